import { join } from 'node:path'
import { openChromium } from './chromium.ts'
import { startStagedPages } from './staged-pages.ts'

// Takes the pictures of docs/pages.md anew: `node test/surface/web/take-screenshots.ts`, or only those whose name contains an argument.
const [wanted = ''] = process.argv.slice(2)
const docs = join(import.meta.dirname, '../../../docs')
const { stage, red, fleet } = await startStagedPages()
const browser = await openChromium()
const shots = [
  { name: 'page-check-light', url: red, colorScheme: 'light', height: 1180 },
  { name: 'page-check-dark', url: red, colorScheme: 'dark', height: 1180 },
  { name: 'page-fleet-light', url: fleet, colorScheme: 'light', height: 980 },
  { name: 'page-fleet-dark', url: fleet, colorScheme: 'dark', height: 980 },
  { name: 'page-graph-light', url: `${fleet}/graph`, colorScheme: 'light', height: 980 },
  { name: 'page-graph-dark', url: `${fleet}/graph`, colorScheme: 'dark', height: 980 },
] as const
try {
  for (const { name, url, colorScheme, height } of shots.filter(shot => shot.name.includes(wanted))) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1000, height } })
    await page.goto(url)
    await page.screenshot({ path: join(docs, `${name}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
  await stage.close()
}
