import { expect } from 'vitest'
import { findClusters } from '../../src/fleet/bootstrap/find-clusters.ts'
import { fluxFiles } from '../../src/fleet/bootstrap/sync-roots.ts'
import { admitChild } from '../../src/fleet/graph/admit-child.ts'
import type { Claim, Walk } from '../../src/fleet/graph/walk.ts'
import { askRead, type ReadContext } from '../../src/fleet/sources/ask-read.ts'
import { chartContent, chartParts } from '../../src/fleet/sources/charts.ts'
import { packTree } from '../../src/flux/artifact.ts'
import { canonicalQuantity } from '../../src/flux/go-round-trip.ts'
import { MAX_HOLES, renderWithHoles } from '../../src/flux/render-with-holes.ts'
import { PackBudget, parsePatterns } from '../../src/flux/source-ignore.ts'
import { copiedTree } from '../../src/flux/source-trees.ts'
import { envsubst } from '../../src/flux/substitute/envsubst.ts'
import { type Spent, SubstitutionBudget } from '../../src/flux/substitute/variables.ts'
import {
  checkFileSize,
  checkPaths,
  checkSize,
  DEFAULT_LIMITS,
  LOCAL_LIMITS,
  MAX_FILE_BYTES,
} from '../../src/git/entry-limits.ts'
import type { Tree, TreeEntry } from '../../src/git/tree.ts'
import type { MapNode } from '../../src/kube/node.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { fleetOf } from '../fleet/fleet-of.ts'
import { DEV_URL, fleetFiles, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const ORIGIN = { repository: '', file: 'x', line: 1, column: 1 }
const list = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_one, index) => of(index))

/** The code of what is thrown; undefined where nothing is. */
function thrown(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  }
}

/** What `run` throws exactly at the limit, and one past it. */
const around = (limit: number, run: (count: number) => unknown) => [limit, limit + 1].map(one => thrown(() => run(one)))

const objectOf = (text: string): KubeObject => ({
  root: parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))[0] as MapNode,
  trail: [],
})

const kustomization = (name: string, path: string) => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: apps}
spec: {interval: 5m, prune: true, serviceAccountName: dev-team, path: ${path}, sourceRef: {kind: GitRepository, name: dev-team}}
`
const repository = (name: string, url = `https://github.com/acme/${name}`) => `---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ${name}, namespace: apps}
spec: {interval: 1m, url: "${url}", ref: {branch: main}}
`

function errorsOf(dev: Record<string, string>): (string | undefined)[][] {
  const { nodes } = fleetOf(miniFleet({ dev }))
  return nodes.flatMap(({ tenant, error }) => (error ? [[tenant, error.code]] : []))
}

/** Kustomizations below each other, the last of which renders nothing. */
function nested(count: number) {
  const files = list(count, index => `deep/${index}`).flatMap((directory, index) => [
    [`${directory}/kustomization.yaml`, index + 1 < count ? 'resources: [next.yaml]\n' : 'resources: []\n'],
    [`${directory}/next.yaml`, kustomization(`deep-${index + 1}`, `./deep/${index + 1}`)],
  ])
  return { ...withResource(kustomization('deep-0', './deep/0')), ...Object.fromEntries(files) }
}

/** A tree of that many files, which nobody reads. */
function flat(count: number): Tree {
  const entries: TreeEntry[] = list(count, index => `${index}`).map(name => ({
    name,
    path: name,
    type: 'file',
    id: name,
  }))
  const byPath = new Map(entries.map(one => [one.path, one]))
  return {
    id: `flat ${count}`,
    entry: path => byPath.get(path),
    list: path => (path === '' ? entries : []),
    read: () => new Uint8Array(),
  }
}

/** Each limit of the graph, its sources and git: goes one past it. */
export const PAST_LIMITS: Readonly<Record<string, () => void | Promise<void>>> = {
  'src/fleet/sources/ask-read.ts MAX_ASKED': () => {
    const view = {
      cluster: 'staging',
      given: { facts: [] },
      config: { tenants: new Map(), allowedSources: [] },
      declarerOf: () => 'dev-team',
      contentOf: () => undefined,
      owners: new Map(),
      asked: new Map(),
    } as unknown as ReadContext
    const source = objectOf(repository('x'))
    const reader = { tenant: 'dev-team', writer: 'dev-team' }
    const states = list(51, index => askRead(view, reader, source, `https://github.com/other/x${index}`).state)
    expect(states).toEqual([...list(50, () => 'ask'), 'refused'])
  },

  'src/fleet/graph/admit-child.ts MAX_DEPTH': () => {
    // below the root, the tenants and the tenant
    expect(errorsOf(nested(13))).toEqual([])
    expect(errorsOf(nested(14))).toEqual([['dev-team', 'graph-limits']])
  },

  'src/fleet/graph/admit-child.ts MAX_PLATFORM_NODES': () =>
    expect(admittedBeside(20_000, undefined)).toEqual(['x', 'graph-limits']),
  'src/fleet/graph/admit-child.ts MAX_TENANT_NODES': () => {
    expect(admittedBeside(1_000, 'dev-team')).toEqual(['x', 'graph-limits'])
    const many = (count: number) => ({
      ...withResource(list(count, index => kustomization(`k${index}`, './none')).join('')),
      'none/kustomization.yaml': 'resources: []\n',
    })
    // with the tenant's own
    expect(errorsOf(many(999))).toEqual([])
    expect(errorsOf(many(1_000))).toEqual([['dev-team', 'graph-limits']])
  },

  'src/fleet/sources/charts.ts MAX_CHARTS': () => {
    const place = { url: DEV_URL, ref: {} }
    const partsOf = (count: number) =>
      chartParts(
        {
          placesOf: path => [{ ...place, path }],
          charts: list(count, index => `chart-${index}`),
          ...{ files: [], packing: '', sources: [place] },
        },
        () => undefined,
      ).map(({ path }) => path)
    expect(partsOf(200)).not.toContain('')
    expect(partsOf(201)).toContain('')
  },

  'src/fleet/sources/charts.ts MAX_PARTS': () => {
    const release = objectOf(
      'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: h, namespace: apps}\nspec: {chartRef: {kind: ExternalArtifact, name: made}}\n',
    )
    const copies = (count: number) => list(count, () => '{from: "@a/x", to: "@artifact/"}').join(', ')
    const generator = (count: number) =>
      objectOf(
        `apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: g, namespace: apps}\nspec: {sources: [{alias: a, kind: GitRepository, name: one}], artifacts: [{name: made, copy: [${copies(count)}]}]}\n`,
      )
    const find = ({ name }: { name: string }) => (name === 'one' ? objectOf(repository(name)) : undefined)
    const errors = around(200, count =>
      chartContent(release, { find, generators: () => [generator(count)], root: undefined, aliases: new Map() }),
    )
    expect(errors).toEqual([undefined, 'render-limits'])
  },

  'src/fleet/bootstrap/sync-roots.ts MAX_FLUX_FILES': () => {
    const bytes = new TextEncoder().encode('# kustomize.toolkit.fluxcd.io')
    const files = (count: number, id: string): Tree => {
      const entry = (name: string): TreeEntry => ({ name, path: name, type: 'file', id })
      const entries = Array.from({ length: count }, (_one, index) => entry(`${index}.yaml`))
      return { id, entry: () => undefined, list: path => (path === '' ? entries : []), read: () => bytes }
    }
    expect(around(20_000, count => fluxFiles(files(count, `${count}`), ''))).toEqual([undefined, 'graph-limits'])
    const fleet = (tree: Tree) => findClusters({ url: '', aliases: new Map(), tree }).error?.code
    expect([fleet(files(1, 'one')), fleet(files(20_001, '20001'))]).toEqual([undefined, 'graph-limits'])
  },

  'src/fleet/graph/cluster-root.ts HOPS': () => {
    const key = 'clusters/staging/flux-system/gotk-sync.yaml'
    const rootErrors = (value: string) => {
      const sync = fleetFiles[key]!.replace(
        '  prune: true\n',
        `  prune: true\n  postBuild: {substitute: {a: "${value}"}}\n`,
      )
      expect(sync).toContain(value)
      return fleetOf(miniFleet({ fleet: { [key]: sync } })).nodes.flatMap(({ error }) => error?.code ?? [])
    }
    expect(rootErrors('b')).toEqual([])
    // one more with each rendering
    expect(rootErrors(`b\${a}`)).toEqual(['graph-limits'])
  },

  'src/flux/source-ignore.ts MAX_LINE': () => {
    expect(around(60_000, count => parsePatterns('a'.repeat(count), []))).toEqual([undefined, 'render-limits'])
  },

  'src/flux/render-with-holes.ts MAX_HOLES': () => {
    const files = (count: number) => list(count, index => `- absent-${index}.yaml\n`).join('')
    const render = (count: number) => {
      const tree = treeOf({ 'kustomization.yaml': `resources:\n${files(count)}` })
      const { root } = objectOf('kind: Kustomization\nmetadata: {name: k}\nspec: {path: ./}\n')
      return renderWithHoles({ repository: '', tree }, { root, trail: [] }).holes.length
    }
    expect(render(MAX_HOLES)).toBe(MAX_HOLES)
    expect(around(MAX_HOLES, render)).toEqual([undefined, 'kustomize-missing'])
  },

  'src/flux/go-round-trip.ts MAX_LENGTH': () => {
    const read = (count: number) => canonicalQuantity('1'.padStart(count, '0'), ORIGIN)
    expect(around(64, read)).toEqual([undefined, 'flux-unsupported'])
  },

  'src/flux/source-ignore.ts MAX_STEPS': () => {
    expect(around(30_000_000, count => new PackBudget().spend(count))).toEqual([undefined, 'render-limits'])
    const pack = (count: number) =>
      new PackBudget().pack(work => {
        work.spend(count)
        return treeOf({})
      })
    expect(around(30_000_000, pack)).toEqual([undefined, 'render-limits'])
  },

  'src/flux/artifact.ts MAX_BYTES': () => {
    const text = (count: number) => `${'#'.repeat(49_999)}\n`.repeat(11).slice(0, count)
    expect(around(512 * 1024, count => packTree(treeOf({ a: 'x' }), text(count)))).toEqual([undefined, 'render-limits'])
    const inFile = (count: number) => packTree(treeOf({ '.sourceignore': text(count) }))
    expect(around(512 * 1024, inFile)).toEqual([undefined, 'render-limits'])
  },

  'src/flux/source-trees.ts MAX_FILES': () => {
    const copy = (count: number) => {
      const tree = flat(count)
      const entry: Tree['entry'] = path =>
        path === '' ? { name: '', path, type: 'directory', id: '' } : tree.entry(path)
      return copiedTree([{ tree: { ...tree, entry }, repository: '', from: '', to: '' }])
    }
    expect(around(50_000, copy)).toEqual([undefined, 'render-limits'])
  },

  'src/flux/artifact.ts MAX_PATTERNS': () => {
    const pack = (count: number) => packTree(treeOf({ a: 'x', '.sourceignore': 'b\n' }), 'c\n'.repeat(count - 1))
    expect(around(5_000, pack)).toEqual([undefined, 'render-limits'])
  },

  'src/flux/substitute/variables.ts LIMITS': () => {
    const limits: Record<Spent, number> = { characters: 8 * 1024 * 1024, comparisons: 1_500_000, expressions: 200_000 }
    for (const [what, limit] of Object.entries(limits)) {
      const spend = (count: number) => new SubstitutionBudget().spend(what as Spent, count, ORIGIN)
      expect(around(limit, spend), what).toEqual([undefined, 'render-limits'])
    }
    const many = (count: number) => substituted(`\${a}`.repeat(count))
    expect(around(200_000, many)).toEqual([undefined, 'render-limits'])
  },

  'src/flux/substitute/variables.ts MAX_NESTING': () => {
    const nest = (count: number) => substituted(`${`\${b:=`.repeat(count)}x${'}'.repeat(count)}`)
    expect(around(50, nest)).toEqual([undefined, 'flux-invalid'])
  },

  'src/git/entry-limits.ts DEFAULT_LIMITS': () => {
    const { files, bytes } = DEFAULT_LIMITS
    expect(around(files, count => checkSize('x', count, 0, DEFAULT_LIMITS))).toEqual([undefined, 'render-limits'])
    expect(around(bytes, count => checkSize('x', 0, count, DEFAULT_LIMITS))).toEqual([undefined, 'render-limits'])
  },

  'src/git/entry-limits.ts LOCAL_LIMITS': () => {
    const { files } = LOCAL_LIMITS
    expect(around(files, count => checkSize('x', count, 0, LOCAL_LIMITS))).toEqual([undefined, 'render-limits'])
  },

  'src/git/entry-limits.ts MAX_FILE_BYTES': () => {
    expect(around(MAX_FILE_BYTES, size => checkFileSize('x', size))).toEqual([undefined, 'render-limits'])
  },

  'src/git/entry-limits.ts MAX_PATH_BYTES': () => {
    expect(around(4_096, count => checkPaths('x', [{ path: 'a'.repeat(count) }]))).toEqual([undefined, 'git-ambiguous'])
    expect(around(2_048, count => checkPaths('x', [{ path: 'é'.repeat(count) }]))).toEqual([undefined, 'git-ambiguous'])
  },
}

function substituted(template: string): unknown {
  const variables = new Map([['a', { value: 'x', origin: ORIGIN }]])
  return envsubst(template, { variables, strict: false, budget: new SubstitutionBudget(), origin: ORIGIN })
}

/** Whether a Kustomization is admitted as the last that may be, and the error of its parent where it is one more. */
function admittedBeside(limit: number, tenant: string | undefined): unknown[] {
  return [limit - 1, limit].map(count => {
    const walk = {
      cluster: 'staging',
      drafts: new Map(),
      counts: new Map([[tenant ?? '', count]]),
      tenancy: { owners: new Map([['apps', tenant]]) },
    } as unknown as Walk
    const parent = { key: 'staging/apps/parent', tenant } as unknown as Claim['parent']
    const isAdmitted = admitChild(walk, { parent, kustomization: objectOf(kustomization('x', './x')) })
    return isAdmitted || parent.error?.code
  })
}
