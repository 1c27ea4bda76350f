import { chromium } from 'playwright-core'
import { readdirSync, readFileSync } from 'node:fs'
const cpu = () => { const out = {}; for (const p of readdirSync('/proc')) { if (!/^\d+$/.test(p)) continue; try { const cmd = readFileSync(`/proc/${p}/cmdline`,'utf8'); if (!cmd.includes(process.env.MARK)) continue; const s = readFileSync(`/proc/${p}/stat`,'utf8'); const f = s.slice(s.lastIndexOf(')')+2).split(' '); const k = /--type=([a-z-]+)/.exec(cmd)?.[1] ?? 'browser'; out[k] = (out[k] ?? 0) + (Number(f[11]) + Number(f[12])) / 100 } catch {} } return out }
const mark = process.env.MARK = 'x' + Math.floor(performance.now()*1000)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox','--disable-gpu','--disable-dev-shm-usage',`--user-agent=${mark}`, ...process.argv.slice(2)] })
console.log('launched', JSON.stringify(cpu()))
const context = await browser.newContext()
const page = await context.newPage()
await page.goto('data:text/html,<h1>a')
await new Promise(r => setTimeout(r, 1000))
const a = cpu(); console.log('page', JSON.stringify(a))
await new Promise(r => setTimeout(r, 10000))
console.log('idle 10', JSON.stringify(cpu()))
await page.setContent('<style>@keyframes s{to{transform:rotate(360deg)}} p{animation:s 1s infinite linear}</style><p>x')
await new Promise(r => setTimeout(r, 10000))
console.log('anim 10', JSON.stringify(cpu()))
await browser.close()
