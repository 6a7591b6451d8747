/** All policy files together are one set with one version, since an authorization names one. CAUTION: key on `policies`, persisted. */
export const POLICY_SET_NAME = 'default';
