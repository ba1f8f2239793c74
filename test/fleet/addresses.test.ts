import { expect, test } from 'vitest'
import { FleetSession } from '../../src/fleet/graph/fleet-session.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import { followedBases } from '../../src/verdict/gated-branches.ts'
import { evaluationOf, fleetOf, type Given, inputOf, said } from './fleet-of.ts'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles, miniFleet, withResource } from './mini-fleet.ts'

const FILE = '.github/bailiwick.yaml'
const SYNC = 'clusters/staging/flux-system/gotk-sync.yaml'
const TENANT = 'tenants/dev-team.yaml'
const MIRROR = 'ssh://git@git.internal:2222/mirrors/fleet.git'
const replaced = (file: string, from: string, to: string) => {
  expect(fleetFiles[file]).toContain(from)
  return { [file]: fleetFiles[file]!.replace(from, to) }
}
const mirrored = replaced(SYNC, 'ssh://git@github.com/acme/fleet', MIRROR)
const aliases = (url: string, ...addresses: string[]) =>
  `aliases:\n  - url: ${url}\n    addresses: [${addresses.map(one => `"${one}"`).join(', ')}]\n`
const errorsOf = (given: Given) =>
  fleetOf(given).nodes.flatMap(({ key, error }) => (error ? [`${key} ${error.code}`] : []))
const keysOf = (given: Given) => fleetOf(given).nodes.map(({ key }) => key)

/** A second cluster, which follows this repository by the address that it is known by. */
const production = Object.fromEntries(
  Object.entries(fleetFiles)
    .filter(([file]) => file.startsWith('clusters/staging/'))
    .map(([file, text]) => [
      file.replace('/staging/', '/production/'),
      text.replaceAll('clusters/staging', 'clusters/production'),
    ]),
)

test('a cluster that follows another address is not visible, and the others are evaluated', () => {
  const given = miniFleet({ fleet: { ...production, ...mirrored } })
  const fleet = fleetOf(given)
  expect(errorsOf(given)).toEqual([])
  expect(fleet.nodes.filter(node => node.cluster === 'production')).toHaveLength(4)
  expect(fleet.nodes.filter(node => node.cluster === 'staging')).toMatchObject([
    { objects: [], digest: '', source: { unmatched: { why: 'other-address' } } },
  ])
  expect(fleet.notSeen).toEqual([
    {
      source: 'GitRepository/flux-system/flux-system',
      url: 'https://git.internal:2222/mirrors/fleet',
      reason: `this repository is ${FLEET_URL}; if both are the same repository, list the other address under aliases in ${FILE}`,
    },
  ])
  expect(fleet.notReached).toContainEqual(
    expect.objectContaining({
      id: 'flux-system/tenants',
      origin: expect.objectContaining({ file: 'clusters/staging/tenants.yaml' }),
      reason: expect.stringContaining('which is not visible'),
    }),
  )
})

test('it is an error where a change brings it, and where no cluster is left', () => {
  const before = miniFleet({ fleet: production })
  const after = miniFleet({ fleet: { ...production, ...mirrored } })
  expect(said(evaluationOf(after, { base: before }))).toEqual([`error source-unreadable ${SYNC}:8`])
  expect(said(evaluationOf(after, { base: after }))).toEqual([])
  expect(said(evaluationOf(after))).toEqual([])
  const alone = miniFleet({ fleet: mirrored })
  expect(said(evaluationOf(alone, { base: alone }))).toEqual([`error source-unreadable ${SYNC}:8`])
})

test.each([
  ['a mirror', MIRROR, MIRROR],
  ['the same in another spelling', MIRROR, 'https://git.internal:2222/mirrors/fleet/'],
  ['an alias of ssh', 'git@github-work:acme/fleet.git', 'git@github-work:acme/fleet'],
  ['a fork', 'https://github.com/other/fleet', 'ssh://git@github.com/Other/Fleet.git'],
])('an alias of the fleet file makes %s this repository', (_name, written, alias) => {
  const sync = replaced(SYNC, 'ssh://git@github.com/acme/fleet', written)
  const file = { [FILE]: aliases(FLEET_URL, alias) }
  const given = miniFleet({ fleet: { ...sync, ...file } })
  expect(keysOf(given)).toEqual(keysOf(miniFleet()))
  expect(fleetOf(given).nodes.map(node => node.source.url)).toEqual(
    fleetOf(miniFleet()).nodes.map(node => node.source.url),
  )
  expect(fleetOf(given).notSeen).toEqual([])
  // whoever reads the repository by its other address gets the same, under that address
  const here = { ...given, url: written }
  expect(keysOf(here)).toEqual(keysOf(given))
  expect(errorsOf(here)).toEqual([])
})

test('an alias counts for sources of others, for gates, and for what a session keeps', () => {
  const file = { [FILE]: aliases(DEV_URL, 'https://mirror.internal/dev-team') }
  const fleet = { ...replaced(TENANT, 'https://github.com/acme/dev-team', 'https://mirror.internal/dev-team'), ...file }
  const given = miniFleet({ fleet })
  const built = fleetOf(given)
  expect(built.nodes.find(node => node.tenant === 'dev-team')).toMatchObject({ source: { url: DEV_URL } })
  expect(built.wanted).toEqual([])
  expect(followedBases(built, { url: FLEET_URL, branch: 'main' })).toContainEqual({ url: DEV_URL, branch: 'main' })
  const at = {
    ...given,
    sources: given.sources!.map(one =>
      one.url === DEV_URL ? { ...one, url: 'https://mirror.internal/dev-team' } : one,
    ),
  }
  expect(keysOf(at)).toEqual(keysOf(given))
  const session = new FleetSession()
  session.build(inputOf(at))
  const change = withResource('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: apps}\n')
  const changed = {
    ...at,
    sources: at.sources.map((one, index) => (index === 0 ? { ...one, files: { ...devFiles, ...change } } : one)),
  }
  const digests = ({ nodes }: Fleet) => nodes.map(({ key, digest }) => `${key} ${digest}`)
  expect(digests(session.build(inputOf(changed)))).toEqual(digests(fleetOf(changed)))
  expect(digests(fleetOf(changed))).not.toEqual(digests(fleetOf(at)))
})

test('an alias counts from the file of the base only', () => {
  const file = { [FILE]: aliases(FLEET_URL, MIRROR) }
  const change = miniFleet({ fleet: { ...production, ...mirrored, ...file } })
  expect(said(evaluationOf(change, { base: miniFleet({ fleet: production }) }))).toEqual([
    `error source-unreadable ${SYNC}:8`,
  ])
  const merged = miniFleet({ fleet: { ...production, ...file } })
  expect(said(evaluationOf(change, { base: merged }))).toEqual([])
})

test('no file makes its repository pass for another one', () => {
  const file = { [FILE]: aliases('https://github.com/acme/other', FLEET_URL) }
  const fleet = fleetOf(miniFleet({ fleet: file }))
  expect(fleet.repositories[0]!.url).toBe(FLEET_URL)
  expect(new Set(fleet.nodes.filter(node => !node.tenant).map(node => node.source.url))).toEqual(new Set([FLEET_URL]))
})

test.each([
  ['twice', aliases(DEV_URL, MIRROR) + aliases(FLEET_URL, MIRROR).replace('aliases:\n', '')],
  ['once of itself', aliases(FLEET_URL, 'https://github.com/acme/fleet.git')],
  ['in a chain', aliases(FLEET_URL, DEV_URL) + aliases(DEV_URL, MIRROR).replace('aliases:\n', '')],
])('an address that stands there %s is an error of the file', (_name, text) => {
  expect(fleetOf(miniFleet({ fleet: { [FILE]: text } })).config.error?.code).toBe('config')
})

const dropSource = (text: string) => text.replace(/apiVersion: source\.toolkit[\s\S]*?\n---\n/, '')

test('a source that nobody declares is not visible where the platform names it', () => {
  const fleet = { [TENANT]: dropSource(fleetFiles[TENANT]!) }
  const given = miniFleet({ fleet })
  expect(errorsOf(given)).toEqual([])
  expect(fleetOf(given).notSeen).toEqual([
    {
      source: 'GitRepository/apps/dev-team',
      url: '',
      reason: expect.stringContaining('under sources in .github/bailiwick.yaml'),
    },
  ])
  // a change that leaves a reference without its source is an error as before
  expect(said(evaluationOf(given, { base: miniFleet() }))).toContain(`error flux-invalid ${TENANT}:38`)
  expect(said(evaluationOf(given, { base: given }))).toEqual([])
})

test('a source that nobody declares is an error where a tenant names it', () => {
  const child = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more, namespace: apps}
spec: {interval: 5m, prune: true, serviceAccountName: dev-team, path: ./more, sourceRef: {kind: GitRepository, name: nowhere}}
`
  expect(errorsOf(miniFleet({ dev: withResource(child) }))).toEqual(['staging/apps/more flux-invalid'])
})

test('a source that is applied by hand is declared in the fleet file', () => {
  const declared = (clusters = '') =>
    `sources:\n  - {kind: GitRepository, namespace: apps, name: dev-team, url: ${DEV_URL}, ref: {branch: main}${clusters}}\n`
  const fleet = { [TENANT]: dropSource(fleetFiles[TENANT]!) }
  const given = miniFleet({ fleet: { ...fleet, [FILE]: declared() } })
  expect(fleetOf(given).notSeen).toEqual([])
  expect(fleetOf(given).nodes.find(node => node.tenant === 'dev-team')).toMatchObject({
    source: { id: 'GitRepository/apps/dev-team', url: DEV_URL, ref: { branch: 'main' } },
    objects: [{}],
  })
  const elsewhere = miniFleet({ fleet: { ...fleet, [FILE]: declared(', clusters: [production]') } })
  expect(fleetOf(elsewhere).notSeen).toHaveLength(1)
  // an object of the fleet counts before what the file says
  const both = miniFleet({ fleet: { [FILE]: declared().replace(DEV_URL, 'https://github.com/acme/other') } })
  expect(fleetOf(both).nodes.find(node => node.tenant === 'dev-team')?.source.url).toBe(DEV_URL)
  // it counts from the base only
  expect(said(evaluationOf(given, { base: miniFleet() }))).toContain(`error flux-invalid ${TENANT}:38`)
})
