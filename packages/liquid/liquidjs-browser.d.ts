// The library's build without Node's file system and streams. Its types are those of the package.
declare module 'liquidjs/dist/liquid.browser.mjs' {
  export * from 'liquidjs'
}
