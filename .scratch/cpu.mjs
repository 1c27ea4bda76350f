import { readdirSync, readFileSync, appendFileSync } from 'node:fs'
function cpu() { let t = 0; for (const p of readdirSync('/proc')) { if (!/^\d+$/.test(p)) continue; try { const s = readFileSync(`/proc/${p}/stat`, 'utf8'); const name = s.slice(s.indexOf('(') + 1, s.lastIndexOf(')')); const f = s.slice(s.lastIndexOf(')') + 2).split(' '); if (name === 'workerd' && +f[1] === process.pid || +p === process.pid) t += +f[11] + +f[12] } catch {} } return t / 100 }
let last = cpu(); let lastTest
export default class { 
  onTestModuleStart(m) { this.start = cpu() }
  onTestCaseReady(t) { lastTest = cpu() }
  onTestCaseResult(t) { const c = cpu() - lastTest; if (c > 0.4) appendFileSync('/tmp/cpu.txt', `  test ${c.toFixed(1)} ${t.fullName.slice(0, 110)}\n`) }
  onTestModuleEnd(m) { const c = cpu(); appendFileSync('/tmp/cpu.txt', `file ${(c - this.start).toFixed(1)} ${m.moduleId.replace(/.*\/test\//, '')}\n`) }
}
