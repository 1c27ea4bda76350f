// Types of the built file; the file itself is made by `npm run config`.

/** The page, whole. */
export declare const html: string
/** Its content security policy. */
export declare const policy: string
/** Version of the library that it loads, which is in the address of the library's files. */
export declare const version: string
