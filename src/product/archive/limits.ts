// What an archive may have (issue 2, resources brief 10.3).

export const LARGEST_ARCHIVE_BYTES = 32 * 1024 * 1024
export const LARGEST_UNPACKED_BYTES = 500_000_000
export const LARGEST_RATIO = 100
/** Of all files read as text together: what an isolate can hold beside its other work. */
export const LARGEST_TEXT_BYTES = 24 * 1024 * 1024
