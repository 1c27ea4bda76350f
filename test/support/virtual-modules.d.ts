declare module 'virtual:example-files' {
  const files: Readonly<Record<string, string>>
  export default files
}
