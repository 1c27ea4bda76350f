// Fonts are data modules (wrangler.toml): their bytes, read when a document first needs them.
declare module '*.ttf' {
  const bytes: ArrayBuffer
  export default bytes
}
