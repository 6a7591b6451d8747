export { type Decider, fold, play, type Played } from './decider.js';
export { given, type Then, type When } from './given.js';
