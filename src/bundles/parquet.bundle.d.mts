// Types of the built file; the file itself is made by `npm run config`.
export { ParquetFile } from '../reporting/files/parquet.ts'
