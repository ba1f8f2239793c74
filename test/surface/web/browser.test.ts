import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { saidOfTip } from '../../workers/story/said.ts'
import { noChromium, openChromium } from './chromium.ts'
import { type StagedPages, startStagedPages } from './staged-pages.ts'

const missing = noChromium()
if (missing) console.warn(missing)

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
  readonly passes: readonly { readonly id: string }[]
}

describe.skipIf(missing !== undefined)('pages in a real Chromium', { timeout: 90_000 }, () => {
  let staged: StagedPages
  let browser: Browser
  let pages: readonly (readonly [string, string])[]
  beforeAll(async () => {
    ;[staged, browser] = await Promise.all([startStagedPages(), openChromium()])
    const { red, green, fleet, stage } = staged
    pages = [
      ['a verdict that holds back', red],
      ['a verdict that lets through', green],
      ['the list', `${stage.site.url}/`],
      ['a commit of a branch', saidOfTip(stage.github, 'acme/fleet').detailsUrl ?? ''],
      ['no address', `${stage.site.url}/no/such/page`],
      ['a fleet', `${fleet}?namespace=apps`],
      ['the graph', `${fleet}/graph?zoom=200`],
      ['nothing', `${stage.site.url}/fleets/acme/none`],
    ]
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await staged?.stage.close()
  })

  /** Opens a page; whatever the browser complains about is an error, a refused style or script first of all. */
  async function visit(
    url: string,
    options: Parameters<Browser['newPage']>[0] = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 }, ...options })
    const complaints: string[] = []
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    const loaded: string[] = []
    page.on('request', request => loaded.push(request.url()))
    await page.goto(url)
    expect(loaded.filter(address => !address.startsWith('data:'))).toEqual([url])
    return { page, complaints }
  }

  test('axe-core finds nothing, contrast included, in both themes', { timeout: 240_000 }, async () => {
    for (const [name, url] of pages) {
      // only for what the test itself adds; the page's own policy is looked at below
      const { page } = await visit(url, { bypassCSP: true })
      await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
      await page.evaluate(AXE)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const result: AxeResult = await page.evaluate("axe.run(document, { resultTypes: ['violations', 'passes'] })")
        const found = result.violations.map(({ id, nodes }) => [id, nodes[0]?.html, nodes[0]?.failureSummary])
        expect(found, `${name}, ${colorScheme}`).toEqual([])
        expect(
          result.passes.map(({ id }) => id),
          name,
        ).toContain('color-contrast')
      }
      await page.close()
    }
  })

  test('both themes are themes: paper and ink change places', async () => {
    const light = async (colorScheme: 'light' | 'dark') => {
      const { page, complaints } = await visit(staged.red, { colorScheme })
      const colour: string = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      await page.close()
      expect(complaints).toEqual([])
      return Math.max(...(colour.match(/\d+/g) ?? []).map(Number))
    }
    expect(await light('light')).toBeGreaterThan(200)
    expect(await light('dark')).toBeLessThan(60)
  })

  test('without JavaScript everything is there, and folds open', async () => {
    const { page } = await visit(staged.red, { javaScriptEnabled: false })
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^1 violation in ops-team \(staging\)/)
    const trace = page.locator('details').first()
    expect(await trace.locator('ol').isVisible()).toBe(true)
    await trace.locator('summary').click()
    expect(await trace.locator('ol').isVisible()).toBe(false)
    const steps = (await trace.locator('li').allTextContents()).map(text => text.trim())
    expect(steps[0]).toBe('written atmove.yaml:7')
    expect(steps.at(-1)).toContain('Deployment apps/report')
    await page.close()
  })

  test('the access explorer answers without JavaScript, by a form', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false })
    await page.goto(staged.fleet)
    await page.getByLabel('Namespace', { exact: true }).selectOption('ops')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(page.url()).toBe(`${staged.fleet}?namespace=ops#access`)
    const table = page.getByRole('region', { name: 'Who can change ops on staging' })
    expect(await table.textContent()).toContain('acme/ops-team')
    await page.close()
  })

  test('the keyboard reaches every box of the graph that is a link, from left to right', async () => {
    const { page } = await visit(`${staged.fleet}/graph`)
    const wanted: string[] = await page.evaluate("[...document.querySelectorAll('.map a')].map(one => one.textContent)")
    expect(wanted.length).toBeGreaterThan(20)
    await page.getByRole('region', { name: 'Picture of the graph' }).focus()
    const reached: string[] = []
    for (const _ of wanted) {
      await page.keyboard.press('Tab')
      const [text, outline]: [string, string] = await page.evaluate(
        '[document.activeElement.textContent, getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth]',
      )
      expect(outline, text).toBe('solid3px')
      reached.push(text)
    }
    expect(reached).toEqual(wanted)
    await page.close()
  })

  test('the keyboard reaches everything: the skip link first, each thing with a frame around it', async () => {
    const { page } = await visit(staged.red)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    const box = await page.locator('.skip').boundingBox()
    expect(box?.y).toBeGreaterThanOrEqual(0)
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    const wanted: number = await page.evaluate(
      'document.querySelectorAll(\'main a[href], main summary, main button, main select, main [tabindex="0"]\').length',
    )
    const reached = new Set<string>()
    for (let step = 0; step < wanted; step++) {
      await page.keyboard.press('Tab')
      const [mark, outline]: [string, string] = await page.evaluate(
        '[document.activeElement.outerHTML, getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth]',
      )
      expect(outline, mark.slice(0, 80)).toBe('solid3px')
      reached.add(`${step} ${mark}`)
    }
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true)
    expect(reached.size).toBe(wanted)
    const summary = page.locator('summary').first()
    await summary.focus()
    await page.keyboard.press('Enter')
    expect(await page.locator('details').first().getAttribute('open')).toBeNull()
    await page.close()
  })

  test('360 px wide nothing scrolls sideways but tables and diffs in themselves', async () => {
    for (const [name, url] of pages) {
      const { page } = await visit(url, { viewport: { width: 360, height: 740 } })
      await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
      expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(360)
      const outside: string[] = await page.evaluate(
        "[...document.querySelectorAll('main *')].filter(one => !one.closest('.scroll, .diff') && one.getBoundingClientRect().right > 361).map(one => one.outerHTML.slice(0, 120))",
      )
      expect(outside, name).toEqual([])
      await page.close()
    }
  })

  test('the policy of the page lets no script run that somebody got into it', async () => {
    const { page, complaints } = await visit(staged.red)
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title = 1\">')")
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { text: 'document.title = 2' }))",
    )
    await page.waitForTimeout(200)
    expect(await page.title()).toContain('1 violation')
    expect(complaints.join('\n')).toMatch(/Content Security Policy/)
    await page.close()
  })
})
