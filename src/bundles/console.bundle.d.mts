// Types of the built file; the file itself is made by `npm run config`.

/** The page, whole. */
export declare const html: string
/** Its content security policy; `{origin}` stands for the scheme and host that the page was asked for at. */
export declare const policy: string
/** Scripts that it loads when they are needed, by their names, which change with their contents. */
export declare const files: Readonly<Record<string, string>>
