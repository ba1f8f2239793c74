import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import { openSnapshot, packSnapshot, type Tree } from '../../../src/git/tree.ts'
import { display, idOf } from '../../../src/kube/object.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { type OnboardPlan, planOnboarding } from '../../../src/tenants/onboard/plan.ts'
import { pullRequestText } from '../../../src/tenants/onboard/pull-request-text.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { findProgram, programs } from '../../repository/runner/programs.ts'
import { refusalOf } from '../../repository/runner/refusal-of.ts'
import { acmeFleet, referenceFleet } from './fleets.ts'

const URL = 'https://github.com/acme/fleet'
const OPS = ['ops-team', '--repo', 'https://github.com/acme/ops-team', '--namespace', 'ops', '--cluster', 'staging']

const request = (args: readonly string[]) => parseOnboardArguments(args)
const plan = (args: readonly string[], tree: Tree = acmeFleet(), url = URL) =>
  planOnboarding(request(args), tree, url, 'main')
const applied = (tree: Tree, { files }: OnboardPlan) =>
  overlayTree(tree, new Map(files.map(file => [file.path, file.content])))

function withText(tree: Tree, edits: Record<string, string>): Tree {
  return overlayTree(tree, new Map(Object.entries(edits)))
}

const page = (made: OnboardPlan) => {
  const { title, body } = pullRequestText(made)
  const files = made.files.map(file => `## ${file.path} (${file.change})\n\n\`\`\`yaml\n${file.content}\`\`\``)
  return `# ${title}\n\n${body}\n\n# Files\n\n${files.join('\n\n')}\n`
}

/** What a cluster's tenants overlay renders, as `Kind namespace/name`. */
function tenantsOn(tree: Tree, cluster: string, url = URL): string[] {
  const node = fleetAt(tree, url, 'main').nodes.find(one => one.key === `${cluster}/flux-system/tenants`)!
  expect(node.error).toBeUndefined()
  return node.objects.map(object => display(idOf(object)))
}

const DEV = [
  'Namespace apps',
  'ServiceAccount apps/dev-team',
  'RoleBinding apps/dev-team-reconciler',
  'GitRepository apps/dev-team',
  'Kustomization apps/dev-team',
]
const ROLES = ['ClusterRole bailiwick-tenant', 'ClusterRole bailiwick-tenant-base']
const NEW = [
  ...ROLES,
  'Namespace ops',
  'ServiceAccount ops/ops-team',
  'RoleBinding ops/ops-team-reconciler',
  'GitRepository ops/ops-team',
  'Kustomization ops/ops-team',
]

describe('a second tenant beside the first', () => {
  test('the pull request as people read it', async () => {
    await expect(page(plan(OPS))).toMatchFileSnapshot('goldens/ops-team.md')
  })

  test('both are right on the cluster, and the other cluster is as it was', () => {
    const after = applied(acmeFleet(), plan(OPS))
    expect(tenantsOn(after, 'staging').sort()).toEqual([...DEV, ...NEW].sort())
    expect(tenantsOn(after, 'production').sort()).toEqual([...DEV].sort())
  })

  test('on both clusters, with a directory of its own on each', async () => {
    const args = [...OPS, '--cluster', 'production']
    const made = planOnboarding(
      { ...request(args), tenantDirectories: ['production', 'src'] },
      acmeFleet(),
      URL,
      'main',
    )
    const patches = made.files.filter(file => file.path.endsWith('-patch.yaml'))
    expect(patches.map(file => [file.path, parse(file.content).spec])).toEqual([
      ['tenants/production/ops-team-patch.yaml', { path: './production' }],
    ])
    const after = applied(acmeFleet(), made)
    expect(tenantsOn(after, 'production').sort()).toEqual([...DEV, ...NEW].sort())
    expect(tenantsOn(after, 'staging').sort()).toEqual([...DEV, ...NEW].sort())
  })

  test('--path and two namespaces', async () => {
    const args = [...OPS, '--namespace', 'ops-jobs', '--path', './deploy']
    await expect(page(plan(args))).toMatchFileSnapshot('goldens/two-namespaces.md')
  })

  test('names that YAML reads as something else stay text', () => {
    const args = [
      'null',
      '--repo',
      'https://github.com/acme/null',
      '--namespace',
      '1e3',
      '--cluster',
      'staging',
      '--branch',
      '1.0',
      '--path',
      'true',
    ]
    const { files } = plan(args)
    const rbac = files.find(file => file.path.endsWith('rbac.yaml'))!
    const [namespace, account] = parseAllDocuments(rbac.content, { version: '1.1' }).map(document => document.toJS())
    expect(namespace.metadata).toEqual({ name: '1e3', labels: { 'toolkit.fluxcd.io/tenant': 'null' } })
    expect(account.metadata.name).toBe('null')
  })

  test('running it again changes nothing', () => {
    for (const args of [OPS, [...OPS, '--cluster', 'production', '--path', './x', '--namespace', 'ops-jobs']]) {
      const after = applied(acmeFleet(), plan(args))
      expect(plan(args, after).files).toEqual([])
    }
  })

  test('on a second cluster later', () => {
    const first = applied(acmeFleet(), plan(OPS))
    const args = OPS.map(arg => (arg === 'staging' ? 'production' : arg))
    const made = plan(args, first)
    expect(made.files.map(file => file.path)).toEqual(['tenants/production/kustomization.yaml'])
    expect(tenantsOn(applied(first, made), 'production').sort()).toEqual([...DEV, ...NEW].sort())
  })

  test('a third tenant beside two', () => {
    const first = applied(acmeFleet(), plan(OPS))
    const made = plan(
      ['qa', '--repo', 'https://github.com/acme/qa', '--namespace', 'qa', '--cluster', 'staging'],
      first,
    )
    expect(made.summary).toEqual([])
    expect(made.files.filter(file => file.change === 'edited').map(file => file.path)).toEqual([
      'tenants/staging/kustomization.yaml',
    ])
  })
})

describe('the layout is learnt', () => {
  const moved = (to: (path: string) => string, edits: (path: string, text: string) => string) => {
    const files = Object.entries(fleetFiles('acme/fleet')).map(([path, text]) => [to(path), edits(path, text)])
    return treeOf(Object.fromEntries(files))
  }

  test('tenants in a directory of another name', () => {
    const tree = moved(
      path => path.replace('tenants/base/', 'teams/all/'),
      (_path, text) => text.replaceAll('../base/dev-team', '../../teams/all/dev-team'),
    )
    const made = plan(OPS, tree)
    expect(made.files.map(file => file.path)).toEqual([
      'teams/all/ops-team/kustomization.yaml',
      'teams/all/ops-team/rbac.yaml',
      'teams/all/ops-team/sync.yaml',
      'teams/all/tenant-role/cluster-roles.yaml',
      'teams/all/tenant-role/kustomization.yaml',
      'tenants/staging/kustomization.yaml',
    ])
    expect(made.files.at(-1)!.content).toContain('  - ../../teams/all/ops-team\n')
    expect(tenantsOn(applied(tree, made), 'staging').sort()).toEqual([...DEV, ...NEW].sort())
  })

  test('tenants inside the overlay of each cluster', () => {
    const files = fleetFiles('acme/fleet')
    const own = ['staging', 'production'].flatMap(cluster =>
      ['kustomization', 'rbac', 'sync'].map(name => [
        `tenants/${cluster}/dev-team/${name}.yaml`,
        files[`tenants/base/dev-team/${name}.yaml`]!,
      ]),
    )
    const rest = Object.entries(files).filter(([path]) => !path.startsWith('tenants/base/'))
    const tree = treeOf(
      Object.fromEntries([...own, ...rest.map(([path, text]) => [path, text.replace('../base/dev-team', 'dev-team')])]),
    )
    const args = [...OPS, '--cluster', 'production']
    const made = plan(args, tree)
    expect(made.files.map(file => file.path).filter(path => path.endsWith('rbac.yaml'))).toEqual([
      'tenants/production/ops-team/rbac.yaml',
      'tenants/staging/ops-team/rbac.yaml',
    ])
    const after = applied(tree, made)
    expect(tenantsOn(after, 'production').sort()).toEqual([...DEV, ...NEW].sort())
    expect(plan(args, after).files).toEqual([])
  })

  test('a fleet without any tenant yet', () => {
    const tree = moved(
      path => path,
      (path, text) => (/^tenants\/\w+\/kustomization/.test(path) ? 'kind: Kustomization\nresources: []\n' : text),
    )
    const made = plan(OPS, tree)
    expect(made.files.map(file => file.path)).toContain('tenants/base/ops-team/rbac.yaml')
    expect(tenantsOn(applied(tree, made), 'staging').sort()).toEqual([...NEW].sort())
  })

  test('without a place for tenants it is refused', () => {
    const tree = moved(
      path => path,
      (path, text) => (path === 'clusters/staging/tenants.yaml' ? '# none\n' : text),
    )
    expect(refusalOf(() => plan(OPS, tree))).toMatchObject({
      code: 'onboard-layout',
      message: expect.stringContaining('none does'),
    })
  })
})

test.each(['tag: v1.0.0', 'semver: ">=1.0.0"'])('a cluster that starts from %s takes a second tenant', ref => {
  const path = 'clusters/staging/flux-system/gotk-sync.yaml'
  const tree = withText(acmeFleet(), { [path]: fleetFiles('acme/fleet')[path]!.replace('branch: main', ref) })
  expect(tenantsOn(applied(tree, plan(OPS, tree)), 'staging')).toEqual(expect.arrayContaining([...DEV, ...NEW]))
})

describe('an overlay that says `namespace`', () => {
  const bare = (text: string) => text.replaceAll(/^ {2}namespace: apps\n/gm, '')

  test('is moved down where the first tenant needs it', () => {
    const tree = acmeFleet()
    const read = (path: string) => new TextDecoder().decode(tree.read(path))
    const needy = withText(tree, {
      'tenants/base/dev-team/kustomization.yaml': '# the first\nresources:\n- rbac.yaml\n- sync.yaml\n',
      'tenants/base/dev-team/sync.yaml': bare(read('tenants/base/dev-team/sync.yaml')),
      'tenants/base/dev-team/rbac.yaml': bare(read('tenants/base/dev-team/rbac.yaml')),
      'tenants/staging/dev-team-patch.yaml': bare(read('tenants/staging/dev-team-patch.yaml')),
      'tenants/production/dev-team-patch.yaml': bare(read('tenants/production/dev-team-patch.yaml')),
    })
    const before = tenantsOn(needy, 'staging').sort()
    const made = plan(OPS, needy)
    expect(made.summary).toEqual([
      'Moved "namespace: apps" from tenants/staging/kustomization.yaml down to tenants/base/dev-team/kustomization.yaml.',
    ])
    const base = made.files.find(file => file.path === 'tenants/base/dev-team/kustomization.yaml')!
    expect(base.content).toBe('# the first\nnamespace: apps\nresources:\n- rbac.yaml\n- sync.yaml\n')
    expect(tenantsOn(applied(needy, made), 'staging').sort()).toEqual([...before, ...NEW].sort())
  })

  test('is moved down as well where only a field inside of an object needs it', () => {
    const tree = acmeFleet()
    const extra = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: extra
  namespace: apps
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: view
subjects:
- kind: ServiceAccount
  name: default
`
    const needy = withText(tree, {
      'tenants/base/dev-team/kustomization.yaml': 'resources:\n- rbac.yaml\n- sync.yaml\n',
      'tenants/base/dev-team/rbac.yaml': new TextDecoder().decode(tree.read('tenants/base/dev-team/rbac.yaml')) + extra,
    })
    expect(plan(OPS, needy).summary).toEqual([expect.stringMatching(/^Moved "namespace: apps"/)])
  })

  test('is refused where another cluster would change with it', () => {
    const tree = acmeFleet()
    const read = (path: string) => new TextDecoder().decode(tree.read(path))
    const twoFaced = withText(tree, {
      'tenants/base/dev-team/kustomization.yaml': 'resources:\n- rbac.yaml\n- sync.yaml\n',
      'tenants/base/dev-team/sync.yaml': bare(read('tenants/base/dev-team/sync.yaml')),
      'tenants/base/dev-team/rbac.yaml': bare(read('tenants/base/dev-team/rbac.yaml')),
      'tenants/production/kustomization.yaml': read('tenants/production/kustomization.yaml')
        .replace('namespace: apps', 'namespace: shop')
        .replace(/patches:[\s\S]*/, ''),
      'tenants/staging/kustomization.yaml': read('tenants/staging/kustomization.yaml').replace(/patches:[\s\S]*/, ''),
    })
    // production overrides whatever the base says, so moving it down is fine there; taking it out of both is not
    expect(plan(OPS, twoFaced).files.length).toBeGreaterThan(0)
    const error = refusalOf(() => plan([...OPS, '--cluster', 'production'], twoFaced))
    expect(error).toMatchObject({ code: 'onboard-layout', origin: { file: 'tenants/staging/kustomization.yaml' } })
    expect(error.message).toContain('with the namespace moved down: ')
  })

  test('a name prefix for everybody is refused', () => {
    const tree = acmeFleet()
    const file = 'tenants/staging/kustomization.yaml'
    const patched = withText(tree, {
      [file]: `${new TextDecoder().decode(tree.read(file))}  - target:\n      kind: GitRepository\n    patch: |\n      - op: replace\n        path: /spec/url\n        value: https://github.com/acme/other\n`,
    })
    const error = refusalOf(() => plan(OPS, patched))
    expect(error.code).toBe('onboard-layout')
    expect(error.message).toContain('GitRepository ops/ops-team on staging would have another spec.url')
  })
})

describe('what the fleet has already is refused', () => {
  const cases: Record<string, [readonly string[], RegExp]> = {
    'an unknown cluster': [OPS.map(a => (a === 'staging' ? 'moon' : a)), /no cluster "moon"/],
    'a tenant': [OPS.map(a => (a === 'ops-team' ? 'dev-team' : a)), /tenant "dev-team" already exists/],
    'a namespace of a tenant': [OPS.map(a => (a === 'ops' ? 'apps' : a)), /namespace "apps" is taken/],
    'a namespace of the platform': [OPS.map(a => (a === 'ops' ? 'sandbox' : a)), /namespace "sandbox" is taken/],
    'a second namespace that is taken': [[...OPS, '--namespace', 'apps'], /namespace "apps" is taken/],
    "another tenant's repository": [
      OPS.map(a => a.replace('acme/ops-team', 'ACME/dev-team.git')),
      /source of GitRepository apps\/dev-team/,
    ],
    'the same by ssh': [
      OPS.map(a =>
        a.replace('https://github.com', 'ssh://git@github.com:22').replace('acme/ops-team', 'acme/dev-team'),
      ),
      /source of GitRepository/,
    ],
    'the fleet itself': [OPS.map(a => a.replace('acme/ops-team', 'acme/fleet')), /is the fleet itself/],
  }
  for (const [name, [args, message]] of Object.entries(cases)) {
    test(name, () => {
      const error = refusalOf(() => plan(args))
      expect(error.code).toBe('onboard-input')
      expect(error.message).toMatch(message)
      expect(error.fix).toBeTruthy()
    })
  }

  test('a file with other content', () => {
    const tree = withText(acmeFleet(), { 'tenants/base/ops-team/rbac.yaml': '# mine\n' })
    expect(refusalOf(() => plan(OPS, tree))).toMatchObject({
      code: 'onboard-layout',
      message: '"tenants/base/ops-team/rbac.yaml" exists with other content',
    })
  })

  test('a file where a directory would be', () => {
    const tree = withText(acmeFleet(), { 'tenants/base/ops-team': 'x' })
    expect(refusalOf(() => plan(OPS, tree)).code).toBe('onboard-layout')
  })

  test('an empty repository', () => {
    const empty = openSnapshot(packSnapshot([{ path: 'README.md', content: '' }]))
    expect(refusalOf(() => plan(OPS, empty))).toMatchObject({
      code: 'onboard-input',
      fix: 'Clusters of this fleet: none.',
    })
  })
})

function write(tree: Tree, root: string, path = ''): void {
  for (const entry of tree.list(path)) {
    if (entry.type === 'directory') write(tree, root, entry.path)
    else if (entry.type === 'file') {
      mkdirSync(dirname(join(root, entry.path)), { recursive: true })
      writeFileSync(join(root, entry.path), tree.read(entry.path))
    }
  }
}

test('the real kustomize renders both tenants the same way', ({ skip }) => {
  const program = findProgram('kustomize')
  if (program === undefined) return skip(`no kustomize: ${programs.kustomize.get}`)
  const args = [...OPS, '--cluster', 'production', '--path', './deploy']
  const after = applied(acmeFleet(), plan(args))
  const root = mkdtempSync(join(tmpdir(), 'bailiwick-onboard-'))
  try {
    write(after, root)
    for (const cluster of ['staging', 'production']) {
      const text = execFileSync(program, ['build', join(root, 'tenants', cluster)], { encoding: 'utf8' })
      const objects = parseAllDocuments(text).map(document => document.toJS())
      const names = objects.map(
        o => `${o.kind} ${o.metadata.namespace ? `${o.metadata.namespace}/` : ''}${o.metadata.name}`,
      )
      expect(names.sort()).toEqual([...DEV, ...NEW].sort())
      const path = (name: string) => objects.find(o => o.kind === 'Kustomization' && o.metadata.name === name).spec.path
      expect([path('dev-team'), path('ops-team')]).toEqual([`./${cluster}`, './deploy'])
    }
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('the reference fleet takes a second tenant', ({ skip }) => {
  const reference = referenceFleet()
  if (reference === undefined) return skip('no reference fleet beside the project')
  const url = 'https://github.com/fluxcd/flux2-multi-tenancy'
  const made = plan([...OPS, '--cluster', 'production'], reference, url)
  expect(made.files.filter(file => file.change === 'edited').map(file => file.path)).toEqual([
    'tenants/production/kustomization.yaml',
    'tenants/staging/kustomization.yaml',
  ])
  const after = applied(reference, made)
  const dev = DEV.map(name => name.replace('dev-team-reconciler', 'gotk-reconciler'))
  for (const cluster of ['staging', 'production']) {
    expect(tenantsOn(after, cluster, url).sort()).toEqual([...dev, ...NEW].sort())
  }
  expect(plan([...OPS, '--cluster', 'production'], after, url).files).toEqual([])
})
