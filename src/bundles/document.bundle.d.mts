// Types of the built file; the file itself is made by `npm run config`.
export { describeDocument, examples } from '../wording/apart.ts'
