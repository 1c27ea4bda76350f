import { runTool } from '../../tool.ts'

const { code, stdout, stderr } = await runTool(process.argv.slice(2))
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code
