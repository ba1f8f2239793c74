import fc from 'fast-check'
import {
  anyEdit as anyOpenEdit,
  type Edit as OpenEdit,
  edited as openlyEdited,
} from '../../verdict/evaluate/incremental/random-edit.ts'
import { CLUSTERS, committed, object, type World } from '../../verdict/evaluate/incremental/random-world.ts'

const FLEET = 'https://github.com/acme/fleet'
const MIRROR = 'ssh://git@git.internal:2222/mirrors/fleet'
const FLEET_FILE = '.github/bailiwick.yaml'

/** An edit of the fleet that makes less of it visible, or one of anything. */
type Edit = { readonly open: OpenEdit } | HiddenEdit

export interface HiddenEdit {
  readonly name: keyof typeof EDITS
  readonly cluster: number
  readonly dice: number
}

export const anyEdit = (): fc.Arbitrary<Edit> =>
  fc.oneof(
    anyOpenEdit().map(open => ({ open })),
    fc.record({
      name: fc.constantFrom(...(Object.keys(EDITS) as (keyof typeof EDITS)[])),
      cluster: fc.nat(CLUSTERS.length - 1),
      dice: fc.nat(5),
    }),
  )

export function edited(world: World, edit: Edit): World {
  if ('open' in edit) return openlyEdited(world, edit.open)
  const fleet = new Map(world.fleet)
  EDITS[edit.name](fleet, CLUSTERS[edit.cluster]!, edit.dice)
  return committed({ ...world, fleet }, '')
}

/** The world as the clusters see it: they read every repository, by any of its addresses, and have what was applied by hand. */
export function asClustersSeeIt(world: World): World {
  return { ...world, unreadable: new Set(), fleet: new Map([...world.fleet, [FLEET_FILE, ALIASES + BY_HAND]]) }
}

type Files = Map<string, string>

const ALIASES = `aliases: [{url: "${FLEET}", addresses: ["${MIRROR}"]}]\n`
const BY_HAND = `sources: [{kind: GitRepository, namespace: flux-system, name: by-hand, url: "${FLEET}", ref: {branch: main}}]\n`

const change = (files: Files, path: string, edit: (text: string) => string) =>
  files.set(path, edit(files.get(path) ?? ''))

/** Lets the folder of values list these files, too. */
const listed = (files: Files, ...names: string[]) =>
  files.set('vars/kustomization.yaml', `resources: [${['vars.yaml', ...names].join(', ')}]\n`)

const kustomization = (name: string, path: string) =>
  object(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    name,
    'flux-system',
    `spec: {interval: 5m, prune: true, path: ${path}, sourceRef: {kind: GitRepository, name: flux-system}}\n`,
  )

const EDITS = {
  remote: (files, _cluster, dice) => listed(files, `https://files.example.com/${dice % 3}.yaml`),
  missing: (files, _cluster, dice) => listed(files, ...(dice % 2 ? ['gone.yaml'] : [])),
  unreadable: (files, _cluster, dice) => {
    listed(files, 'broken.yaml')
    files.set('vars/broken.yaml', dice % 3 ? `broken: [${dice}\n` : object('v1', 'ConfigMap', 'mended', 'flux-system'))
  },
  beside: (files, _cluster, dice) =>
    change(files, 'vars/vars.yaml', text => text.replace(/stage: \w+/, `stage: s${dice}`)),
  mirror: (files, cluster, dice) =>
    change(files, `clusters/${cluster}/flux-system/sync.yaml`, text =>
      text.replace(/url: [^,]+,/, `url: ${dice % 2 ? MIRROR : FLEET},`),
    ),
  alias: (files, _cluster, dice) => {
    if (dice % 2) files.set(FLEET_FILE, ALIASES)
    else files.delete(FLEET_FILE)
  },
  byHand: (files, cluster, dice) =>
    change(files, `clusters/${cluster}/vars.yaml`, text =>
      text.replace(/name: (?:flux-system|by-hand)\}/, `name: ${dice % 2 ? 'by-hand' : 'flux-system'}}`),
    ),
  hub: (files, cluster, dice) =>
    change(files, `clusters/${cluster}/vars.yaml`, text =>
      text
        .replace(/kubeConfig: \{.*?\}\}, /, '')
        .replace('interval: 5m, ', `interval: 5m, ${dice % 2 ? `kubeConfig: {secretRef: {name: edge${dice}}}, ` : ''}`),
    ),
  nested: (files, _cluster, dice) => {
    files.set('edge/site/app.yaml', object('v1', 'ConfigMap', 'edge', 'default', `data: {value: "${dice}"}\n`))
    files.set(
      'edge/site/flux-system/sync.yaml',
      [
        object(
          'source.toolkit.fluxcd.io/v1',
          'GitRepository',
          'flux-system',
          'flux-system',
          `spec: {interval: 1m, url: ${FLEET}, ref: {branch: main}}\n`,
        ),
        kustomization('flux-system', './edge/site'),
      ].join('---\n'),
    )
  },
  stray: (files, _cluster, dice) => files.set('stray/more.yaml', kustomization('stray', `./stray${dice}`)),
} satisfies Record<string, (files: Files, cluster: string, dice: number) => unknown>
