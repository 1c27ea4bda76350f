declare module '@jitl/quickjs-wasmfile-release-sync/wasm' {
  const module: WebAssembly.Module
  export default module
}
