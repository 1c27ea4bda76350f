// Types of the built file; the file itself is made by `npm run config`.

/** The page, whole. */
export declare const html: string
/** Its content security policy. */
export declare const policy: string
