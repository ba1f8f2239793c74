import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { visible } from '../../../src/base/visible.ts'
import type { FleetNode } from '../../../src/fleet/model/fleet.ts'
import { graphText } from '../../../src/report/formats/graph-text.ts'
import { findProgram, programs } from '../../repository/runner/programs.ts'
import { noChromium, openChromium } from '../../surface/web/chromium.ts'

/** Names that mean something to one of the languages, to HTML or to Markdown. */
const NAMES: Readonly<Record<string, string>> = {
  'a plain name': 'apps',
  'a keyword': 'end',
  'keywords of both': 'subgraph end graph digraph strict node edge default click style class linkStyle',
  quotes: `a"b'c\`d`,
  'brackets of every form': '[(x)] {{y}} ((z)) >w] [/v/] [\\u\\] <|-t-|>',
  'the end of a label': 'x"]:::failed\nclick n0 "javascript:alert(1)"',
  entities: '&lt;b&gt; &amp; &#35; &#x41; #35; #quot; #lt; &quot;',
  tags: '<b>bold</b> <br> <img src=x onerror=alert(1)> <script>alert(1)</script>',
  directives: '%%{init: {"theme": "dark"}}%% %% comment // /* */ # ; --- title: x',
  edges: 'a --> b -.-> c ==> d -> e -- f ~~~ g & h',
  'Markdown of Mermaid': '`**bold** _it_ [link](https://example.com)` $$x^2$$ fa:fa-ban :::x @{shape: x}',
  'other scripts': 'déploiement-日本語-Ελλάδα-😀-👩‍👩‍👧',
  'what hides and reorders': 'a\u202eb\u200bc\u0000d\u001b[2Je\u2028f',
  'line breaks': 'one\ntwo\r\nthree\rfour',
  '253 characters': 'x'.repeat(253),
  '253 characters that are escaped': '"'.repeat(253),
  'a space in front and behind': ' x ',
  'a list and a heading': '1. # - x',
  'a list in front': '- x',
  nothing: '',
}

function nodeOf(text: string, key: string, more: Partial<FleetNode> = {}): FleetNode {
  return {
    ...{ key, cluster: text, namespace: text, name: text, tenant: text },
    identity: { user: text, impersonated: true },
    source: { id: text, url: text, ref: { branch: text }, commit: '' },
    ...{ objects: [], suspend: false },
    ...more,
  } as unknown as FleetNode
}

/** Of each text one cluster with a node that fails, one that it applies, and one of another cluster. */
const graphs = Object.entries(NAMES).map(([what, text]) => {
  const nodes = [nodeOf(text, 'one'), nodeOf(text, 'two', { parent: 'one', suspend: true }), nodeOf('plain', 'three')]
  return { what, text, nodes }
})

/** What a reader is to see in the boxes: spaces are one. */
const expected = (text: string) => {
  const lines = (suspended: string) => [`${text}/${text}`, `tenant ${text}`, text, `0 objects${suspended}`]
  const boxes = [lines(''), lines(', suspended')].map(box => box.map(line => visible(line, 120)))
  return [...boxes, ['plain/plain', 'tenant plain', 'plain', '0 objects']].map(box => squeezed(box.join(' '))).sort()
}
const squeezed = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

const mermaid = findProgram('mermaid.min.js')
const noBrowser = mermaid ? noChromium() : `no mermaid: ${programs['mermaid.min.js'].get}`

describe.skipIf(noBrowser)(`Mermaid in a browser${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  let browser: Awaited<ReturnType<typeof openChromium>>
  let page: Awaited<ReturnType<typeof browser.newPage>>
  beforeAll(async () => {
    browser = await openChromium()
    page = await browser.newPage()
    await page.setContent('<!doctype html><title>x</title><body></body>')
    await page.addScriptTag({ content: readFileSync(mermaid!, 'utf8') })
  }, 60_000)
  afterAll(() => browser?.close())

  interface Picture {
    readonly boxes: readonly string[]
    readonly clusters: readonly string[]
    readonly edges: number
    readonly foreign: number
  }

  test.each(graphs)('$what', async ({ text, nodes }) => {
    const source = graphText(nodes)
    const script = `(async () => {
      mermaid.initialize({ startOnLoad: false, securityLevel: 'strict' })
      const { svg } = await mermaid.render('picture', ${JSON.stringify(source)})
      document.body.innerHTML = svg
      const text = one => one.innerHTML.replace(/<br[^>]*>/g, ' ')
      const plain = one => { const copy = document.createElement('div'); copy.innerHTML = text(one); return copy.textContent }
      const all = query => [...document.body.querySelectorAll(query)]
      return {
        boxes: all('.node .nodeLabel').map(plain),
        clusters: all('.cluster-label .nodeLabel').map(plain),
        edges: all('path.flowchart-link').length,
        foreign: all('a, script, img, iframe').length,
      }
    })()`
    const { boxes, clusters, edges, foreign } = (await page.evaluate(script)) as Picture
    // the word joiner has no width
    const shown = boxes.map(box => squeezed(box.replaceAll('\u2060', '')))
    expect(shown.filter(box => / objects(, suspended)?$/.test(box)).sort()).toEqual(expected(text))
    expect(shown).toHaveLength(5)
    expect(clusters.map(squeezed).sort()).toEqual([squeezed(visible(text, 100)), 'plain'].sort())
    expect({ edges, foreign }).toEqual({ edges: 4, foreign: 0 })
  })

  // src/surface/cli/graph.ts warns of both
  test.each([
    ['500 edges', 500, 1, true],
    ['501 edges', 501, 1, false],
    ['50,000 characters', 1, 50_000, true],
    ['50,001 characters', 1, 50_001, false],
  ])(
    'takes %s: %#',
    async (_, edges, length, isDrawn) => {
      const lines = ['flowchart LR', ...Array.from({ length: edges }, (_, index) => `  a --> b${index % 20}`)].join(
        '\n',
      )
      const source = `${lines}\n`.padEnd(length, '\n')
      const script = `mermaid.render('large', ${JSON.stringify(source)}).then(({ svg }) => !svg.includes('Maximum text size'), error => String(error))`
      const answer = await page.evaluate(script)
      if (isDrawn) expect(answer).toBe(true)
      else if (edges > 1) expect(answer).toContain('Edge limit exceeded')
      else expect(answer).toBe(false)
    },
    60_000,
  )
})
