/** CAUTION: agrees with package.json; a test compares them. */
export const PRODUCT_VERSION = '0.1.0';
