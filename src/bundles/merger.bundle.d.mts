// Types of the built file; the file itself is made by `npm run config`.
export { ConversionError, mergePdfs } from '../../packages/pdf/merge.ts'
