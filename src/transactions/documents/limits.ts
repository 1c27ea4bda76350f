/** Largest upload of a document (resources brief 4.1). */
export const LARGEST_UPLOAD_BYTES = 25 * 1024 * 1024
