// Types of the built file; the file itself is made by `npm run config`.
export { ConversionError, renderPdf } from '../../packages/pdf/render.ts'
