// Types of the built file; the file itself is made by `npm run config`.
export { analyse } from '../servicing/template-data/analysis.ts'
