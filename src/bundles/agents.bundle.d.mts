// Types of the built file; the file itself is made by `npm run config`.
export { serveAgent, TOOLS } from '../agents/protocol/serve.ts'
