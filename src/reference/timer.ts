/** Kind of the timer for the file of an upload, to be deleted unless it became a resource's. */
export const RESOURCE_FILE_TIMER = 'resource.file.unrecorded'
