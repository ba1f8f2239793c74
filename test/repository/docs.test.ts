import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorList } from '../../docs/error-list.ts'
import { withFieldsTable } from '../../docs/fields-table.ts'
import { settingsExample } from '../../docs/settings-example.ts'
import { parseClusters } from '../../src/cluster/clusters-file.ts'
import { readFleetFile } from '../../src/fleet/config/fleet-file.ts'
import { fleetSchema } from '../../src/fleet/config/fleet-shape.ts'
import type { Node } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { errorGuide } from '../../src/report/error-guide.ts'
import { rules } from '../../src/rules/registry.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { anchorsOf } from './docs/anchors-of.ts'
import { GROUPS, MAY_IMPORT } from './parts.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const settings = read('docs/settings.md')
const documents = globSync(['*.md', 'docs/*.md'], { cwd: root })

/** Names of the properties that a schema has anywhere. */
function keysOf(schema: unknown): Set<string> {
  const found = new Set<string>()
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const { properties, items } = part as { properties?: Record<string, unknown>; items?: unknown }
    for (const [key, value] of Object.entries(properties ?? {})) {
      found.add(key)
      walk(value)
    }
    walk(items)
  }
  walk(schema)
  return found
}

function shownKeys(node: Node | undefined): Set<string> {
  if (node?.type === 'list') return new Set(node.items.flatMap(item => [...shownKeys(item)]))
  if (node?.type !== 'map') return new Set()
  return new Set([...node.fields].flatMap(([key, { value }]) => [key, ...shownKeys(value)]))
}

describe('the glossary', () => {
  const rows = read('docs/concepts.md')
    .split(/^## Glossary$/m)[1]!
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.startsWith('| term'))
    .map(line => line.split('|').map(cell => cell.trim()))

  test('is linked from the index, and has at most 40 terms, each once, in a sentence or more', () => {
    expect(read('docs/README.md')).toContain('(concepts.md#glossary)')
    const terms = rows.map(([, term = '']) => term)
    expect(terms.length).toBeGreaterThan(15)
    expect(terms.length).toBeLessThanOrEqual(40)
    expect(new Set(terms).size).toBe(terms.length)
    for (const [, term, meaning = ''] of rows) expect(meaning, term).toMatch(/^\S.*\.$/)
  })

  test('has terms that readers meet in texts of the program, with their page or the outside source of their meaning', () => {
    const texts = globSync(['src/**/*.ts', 'workers/**/*.ts'], { cwd: root }).map(read).join('\n').toLowerCase()
    for (const [, term = '', , link = ''] of rows) {
      const word = term.toLowerCase()
      expect(texts, term).toContain(word)
      const pages = [...link.matchAll(/\(([^)#]+)/g)].map(([, page = '']) => page)
      expect(pages.length, term).toBeGreaterThan(0)
      for (const page of pages.filter(one => !one.startsWith('https://')))
        expect(read(`docs/${page}`).toLowerCase(), `${term} in ${page}`).toContain(word.slice(0, -1))
    }
  })

  test('its replaced words are in no title of a check run, comment or page', () => {
    const surfaces = globSync('src/report/**/*.ts', { cwd: root }).map(read).join('\n')
    const old = /Could not decide|[Nn]ot decided|platform admin|[Jj]udged as|not seen['`:]|[Mm]end /g
    expect([...surfaces.matchAll(old)].map(([word]) => word)).toEqual([])
  })
})

describe('documents', () => {
  test.each([
    ['The flow of a pull request', 25],
    ['The worker', 10],
  ])('each step of "%s" is in the file that is named', (heading, count) => {
    const section = read('docs/architecture.md')
      .split(new RegExp(`^## ${heading}$`, 'm'))[1]!
      .split(/^## /m)[0]!
    const steps = [...section.matchAll(/^\d+\. `(\w+)` in `([^`]+)`/gm)]
    expect(steps).toHaveLength(count)
    for (const [step, name = '', path = ''] of steps)
      expect(read(path), step).toMatch(
        new RegExp(`^(?:export )?(?:async )?(?:function\\*? |const |  (?:async )?)${name}\\b`, 'm'),
      )
  })

  test('the table of folders has each part, in order, with what it may import', () => {
    const section = read('docs/architecture.md')
      .split(/^## Folders$/m)[1]!
      .split(/^## /m)[0]!
    const rows = [...section.matchAll(/^\| `(?:src\/)?([\w-]+)(?:\.ts)?` \| [^|]+ \|(.*)\|$/gm)]
    const imports = rows.map(([, part = '', cell = '']) => {
      const words = [...cell.matchAll(/[`*]([^`*]+)[`*]/g)].map(([, word = '']) => word)
      return [part, words.flatMap(word => GROUPS[word] ?? [word])]
    })
    expect(imports).toEqual(Object.entries(MAY_IMPORT))
  })

  test('nothing tells anybody to run by npx what is not published: it would fetch whatever a stranger calls so', () => {
    const texts = [...documents, ...globSync('{src,workers}/**/*.ts', { cwd: root })]
    expect(texts.filter(path => /\bnpx (?:-\S+ )*bailiwick/.test(read(path)))).toEqual([])
  })

  test('each promise of the threat model names tests that exist', () => {
    const rows = read('docs/threat-model.md')
      .split(/^## Promises$/m)[1]!
      .split(/^## /m)[0]!
      .split('\n')
      .filter(line => /^\| [A-Z]/.test(line))
    expect(rows.length).toBeGreaterThan(15)
    for (const row of rows) {
      const tests = row.split('|')[2] ?? ''
      const files = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
      const folders = [...tests.matchAll(/(?<!`|\/)\b([A-Z]+(?:-[\w-]+)?)\b/g)].map(
        ([, id = '']) => `test/attacks/${id}`,
      )
      expect([...files, ...folders].length, row).toBeGreaterThan(0)
      expect(
        [...files, ...folders].filter(path => !existsSync(join(root, path))),
        row,
      ).toEqual([])
    }
  })

  test('the table of settings has exactly the variables that the code reads', () => {
    const files = [
      'config',
      ...globSync('*.ts', { cwd: join(root, 'src/process') }).map(file => `process/${file.slice(0, -3)}`),
    ]
    const code = files.map(name => read(`src/${name}.ts`)).join('\n')
    const called = code.matchAll(
      /\b(?:required|optional|integer|oneOf|address)\(\s*env,\s*'([A-Z_]+)'|\benv\.([A-Z_]+)/g,
    )
    const inCode = new Set([...called].map(([, quoted, member]) => quoted ?? member))
    const inTable = [...settings.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(match => match[1])
    expect(inTable.length).toBeGreaterThan(10)
    expect([...inTable].sort()).toEqual([...inCode].sort())
  })

  test('every setting has a use on another page, or in the manifests', () => {
    const pages = documents.filter(path => path !== 'docs/settings.md')
    const texts = [...pages, ...globSync('deploy/**/*.yaml', { cwd: root })].map(read).join('\n')
    const names = [...settings.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name = '']) => name)
    expect(names.filter(name => !new RegExp(`\\b${name}\\b`).test(texts))).toEqual([])
  })

  test('.env.example has every setting, and setup can fill it in (npm run generate)', () => {
    expect(read('.env.example')).toBe(settingsExample(settings))
    const shown = [...read('.env.example').matchAll(/^#?([A-Z_]+)=$/gm)].map(match => match[1])
    expect(shown).toEqual([...settings.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(match => match[1]))
  })

  test('the table of the fields of a kustomization.yaml is what their descriptors say (npm run generate)', () => {
    const page = read('docs/supported.md')
    expect(page).toBe(withFieldsTable(page))
  })

  test('each error code is in docs/errors.md, or a rule (npm run generate)', () => {
    expect(read('docs/errors.md')).toBe(errorList())
    const union = read('src/base/errors.ts').split('export type ErrorCode =')[1]!.split('\n\n')[0]!
    const codes = [...union.matchAll(/\| '([a-z-]+)'/g)].map(match => match[1]!)
    const explained = new Set<string>([...errorGuide.map(({ code }) => code), ...rules.map(({ id }) => id)])
    expect(codes.length).toBeGreaterThan(40)
    expect(codes.filter(code => !explained.has(code))).toEqual([])
  })

  test('the examples of .github/bailiwick.yaml are read, and show every key', () => {
    const examples = [...read('docs/fleet-file.md').matchAll(/```yaml\n((?:profile|substituteFrom):[\s\S]*?)```/g)].map(
      match => match[1],
    )
    expect(examples).toHaveLength(2)
    const example = examples.join('')
    const { error, substituteFrom, tenants, waivers } = readFleetFile(treeOf({ '.github/bailiwick.yaml': example }), '')
    expect(error).toBeUndefined()
    expect(substituteFrom).toMatchObject([
      { kind: 'ConfigMap', namespace: 'flux-system', name: 'cluster-settings', cluster: 'staging' },
      { kind: 'Secret', name: 'cluster-secrets', source: { rest: { hidden: 'opaque' } } },
    ])
    expect(waivers).toMatchObject([{ rule: 'plaintext-secret', expires: '2027-03-31' }])
    expect(tenants.get('dev-team')).toMatchObject({ clusters: ['staging'], profile: 'restricted' })
    const [root] = parseDocuments({ repository: '', path: '' }, Buffer.from(example))
    expect([...keysOf(fleetSchema())].filter(key => !shownKeys(root).has(key))).toEqual([])
  })

  test('the example of clusters.yaml is read, and shows every key', () => {
    const example = /```yaml\n(clusters:\n[\s\S]*?)```/.exec(read('docs/worker.md'))?.[1] ?? ''
    const [binding] = parseClusters(example, join(root, 'clusters.yaml'))
    expect(binding).toMatchObject({ name: 'staging', mode: 'reconcile', resyncSeconds: 600, context: 'staging' })
    const keys = /^const KEYS = \[([^\]]*)\]$/m.exec(read('src/cluster/clusters-file.ts'))?.[1] ?? ''
    const shown = [...example.matchAll(/^ {2}(?:- | {2})([a-zA-Z]+):/gm)].map(match => `'${match[1]}'`)
    expect([...new Set(shown)].sort()).toEqual(keys.match(/'\w+'/g)?.sort())
  })

  test.for(documents)('%s links only to files and headings that are there', document => {
    const prose = read(document).replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, '')
    const links = [...prose.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
    const pictures = [...prose.matchAll(/\b(?:src|srcset|href)="(?!https?:)([^"#]+)(?:#([^"]*))?"/g)]
    const broken = [...links, ...pictures].filter(([, path = '', anchor]) => {
      const target = path === '' ? document : join(dirname(document), path)
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  test('docs/README.md lists every page and schema of the folder', () => {
    const index = read('docs/README.md')
    const pages = globSync('docs/*.{md,json,yaml,yml}', { cwd: root }).map(path => path.slice('docs/'.length))
    expect(pages.filter(page => page !== 'README.md' && !index.includes(`](${page}`))).toEqual([])
    expect(read('README.md')).toContain('](docs/README.md)')
  })

  test.for(documents)('%s names only npm scripts and folders that are there', document => {
    const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts)
    const text = read(document)
    const named = [...text.matchAll(/\bnpm run ([a-z:]+)/g)].map(match => match[1] ?? '')
    expect(named.filter(name => !scripts.includes(name))).toEqual([])
    const paths = [...text.matchAll(/`((?:src|workers|test|docs|\.ci)(?:\/[\w.-]+)*)`/g)].map(match => match[1] ?? '')
    expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([])
  })
})
