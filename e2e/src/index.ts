export { seededRandom } from './random.js';
