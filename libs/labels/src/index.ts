export { CLEANEST, isAtLeast, joinLabels, labelOfResult, UNSTATED } from './labels.js';
