/** Kind of the timer for a file that was stored, to be deleted unless it was recorded. */
export const MEDIUM_FILE_TIMER = 'medium.file.unrecorded'
