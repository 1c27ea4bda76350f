// The build of the library without Node's file system and streams; its types are those of the package.
declare module 'liquidjs/dist/liquid.browser.mjs' {
  export * from 'liquidjs'
}
