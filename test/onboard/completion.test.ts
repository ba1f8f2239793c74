import { describe, expect, test } from 'vitest'
import { overlayTree } from '../../src/fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../../src/git/tree.ts'
import { completionText } from '../../src/onboard/completion/completion-text.ts'
import { planCompletion } from '../../src/onboard/completion/plan-completion.ts'
import { parseOnboardArguments } from '../../src/onboard/parse-command.ts'
import { planOnboarding } from '../../src/onboard/plan.ts'
import { fleetFiles } from '../fleets/read-fleet.ts'
import { treeOf } from '../git/tree-of.ts'

const FLEET = 'https://github.com/acme/fleet'
const FOLDER = 'tenants/base/web-team'
const ENTRY = '  - ../base/web-team\n'

type Files = Record<string, string>

function onboarded(files: Files, tenant: string, namespace: string): Files {
  const args = [tenant, '--repo', `https://github.com/acme/${tenant}`, '--namespace', namespace, '--cluster', 'staging']
  const plan = planOnboarding(parseOnboardArguments([...args, '--role', 'edit']), treeOf(files), FLEET, 'main')
  return { ...files, ...Object.fromEntries(plan.files.map(({ path, content }) => [path, content])) }
}

const BEFORE = onboarded(fleetFiles('acme/fleet'), 'ops-team', 'ops')
const WHOLE = onboarded(BEFORE, 'web-team', 'web')
const KUSTOMIZATION = 'tenants/staging/kustomization.yaml'

const complete = (after: Files, before: Files = BEFORE, cluster?: string) =>
  planCompletion({
    before: treeOf(before),
    after: treeOf(after),
    url: FLEET,
    branch: 'main',
    ...(cluster === undefined ? {} : { cluster }),
  })

function without(...paths: string[]): Files {
  return Object.fromEntries(Object.entries(WHOLE).filter(([path]) => !paths.includes(path)))
}

/** Without one object of a file with several. */
function withoutObject(file: string, kind: string): Files {
  const path = `${FOLDER}/${file}`
  const documents = WHOLE[path]!.split(/^(?=---\n)/m)
  return { ...WHOLE, [path]: documents.filter(text => !text.includes(`\nkind: ${kind}\n`)).join('') }
}

const applied = (after: Files, plan: ReturnType<typeof complete>): Tree =>
  overlayTree(treeOf(after), new Map(plan.flatMap(({ files }) => files.map(one => [one.path, one.content]))))

describe('a tenant that lacks one thing', () => {
  test.each([
    [
      'the file of the account',
      without(`${FOLDER}/rbac.yaml`),
      ['Namespace web', 'ServiceAccount web/web-team', 'RoleBinding web/web-team-reconciler'],
    ],
    [
      'the file of the source and the Kustomization',
      without(`${FOLDER}/sync.yaml`),
      ['GitRepository web/web-team', 'Kustomization web/web-team'],
    ],
    ['the Namespace', withoutObject('rbac.yaml', 'Namespace'), ['Namespace web']],
    ['the ServiceAccount', withoutObject('rbac.yaml', 'ServiceAccount'), ['ServiceAccount web/web-team']],
    ['the RoleBinding', withoutObject('rbac.yaml', 'RoleBinding'), ['RoleBinding web/web-team-reconciler']],
    ['the source', withoutObject('sync.yaml', 'GitRepository'), ['GitRepository web/web-team']],
    ['the Kustomization', withoutObject('sync.yaml', 'Kustomization'), ['Kustomization web/web-team']],
    ['its kustomization', without(`${FOLDER}/kustomization.yaml`), [`${FOLDER}/kustomization.yaml`]],
  ])('%s', (_, after, missing) => {
    const [plan, ...others] = complete(after)
    expect(others).toEqual([])
    expect(plan).toMatchObject({ tenant: 'web-team', missing, choices: [] })
    const tree = applied(after, [plan!])
    expect(
      complete(Object.fromEntries(Object.keys(WHOLE).map(path => [path, Buffer.from(tree.read(path)).toString()]))),
    ).toEqual([])
  })

  test('the file that is missing is what onboarding would have written', () => {
    const path = `${FOLDER}/sync.yaml`
    expect(complete(without(path))[0]!.files).toEqual([
      { path, content: WHOLE[path], added: WHOLE[path]!.trimEnd().split('\n'), after: 0 },
    ])
  })

  test('nothing is offered for a complete tenant', () => {
    expect(complete(WHOLE)).toEqual([])
    expect(complete(BEFORE)).toEqual([])
  })
})

describe('the entry in the kustomization of a cluster', () => {
  const unlisted = { ...WHOLE, [KUSTOMIZATION]: WHOLE[KUSTOMIZATION]!.replace(ENTRY, '') }

  test('of two clusters, people choose', () => {
    const [plan] = complete(unlisted)
    expect(plan!.files).toEqual([])
    expect(plan!.choices.map(({ cluster, entry, edit }) => [cluster, entry, edit.path])).toEqual([
      ['staging', '../base/web-team', KUSTOMIZATION],
    ])
  })

  test('the cluster that was chosen lists it after its last entry', () => {
    const [plan] = complete(unlisted, BEFORE, 'staging')
    expect(plan!.missing).toEqual([`../base/web-team in ${KUSTOMIZATION}`])
    expect(plan!.files.map(({ content }) => content)).toEqual([WHOLE[KUSTOMIZATION]])
    expect(plan!.files[0]!.added).toEqual([ENTRY.trimEnd()])
  })
})

describe('nothing is offered where it is not certain', () => {
  const edited = (path: string, from: string, to: string, files: Files = WHOLE) => ({
    ...files,
    [`${FOLDER}/${path}`]: files[`${FOLDER}/${path}`]!.replaceAll(from, to),
  })
  const noBinding = withoutObject('rbac.yaml', 'RoleBinding')
  const noSource = withoutObject('sync.yaml', 'GitRepository')

  test.each([
    [
      'the namespace of another tenant',
      edited('rbac.yaml', 'web\n', 'ops\n', edited('sync.yaml', 'namespace: web\n', 'namespace: ops\n', noBinding)),
    ],
    ['the repository of another tenant', edited('sync.yaml', 'acme/web-team', 'acme/ops-team', noBinding)],
    ['two namespaces', edited('sync.yaml', 'namespace: web\n', 'namespace: web-two\n', noBinding)],
    ['two accounts', edited('sync.yaml', 'serviceAccountName: web-team', 'serviceAccountName: other', noBinding)],
    ['the label of another tenant', edited('rbac.yaml', 'tenant: web-team', 'tenant: ops-team', noBinding)],
    [
      'a reserved namespace',
      edited(
        'rbac.yaml',
        'web\n',
        'kube-system\n',
        edited('sync.yaml', 'namespace: web\n', 'namespace: kube-system\n', noBinding),
      ),
    ],
    ['a file that YAML readers read differently', edited('sync.yaml', 'url:', 'url: x\n  url:', noBinding)],
    [
      'a source of another name',
      edited('sync.yaml', 'name: web-team\n  namespace', 'name: other\n  namespace', noBinding),
    ],
    [
      'an artifact whose source is missing',
      edited('sync.yaml', 'kind: GitRepository', 'kind: OCIRepository', noSource),
    ],
    [
      'a binding of another account',
      edited(
        'rbac.yaml',
        '  name: web-team\n  namespace: web\n',
        '  name: other\n  namespace: web\n',
        withoutObject('rbac.yaml', 'Namespace'),
      ),
    ],
  ])('%s', (_, after) => {
    expect(complete(after)).toEqual([])
  })

  test('one tenant alone shows no pattern of addresses', () => {
    const before = fleetFiles('acme/fleet')
    const whole = onboarded(before, 'web-team', 'web')
    const path = `${FOLDER}/sync.yaml`
    const after = { ...whole, [path]: whole[path]!.split(/^(?=---\n)/m)[1]! }
    expect(complete(after, before)).toEqual([])
  })

  test('addresses without a pattern show none', () => {
    const before = {
      ...BEFORE,
      'tenants/base/ops-team/sync.yaml': BEFORE['tenants/base/ops-team/sync.yaml']!.replace(
        'acme/ops-team',
        'acme/operations',
      ),
    }
    expect(
      complete({ ...noSource, 'tenants/base/ops-team/sync.yaml': before['tenants/base/ops-team/sync.yaml']! }, before),
    ).toEqual([])
  })
})

describe('rights that other tenants have are no pattern, and it is said that they are left out', () => {
  const changed = (files: Files, from: string, to: string) =>
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, path.startsWith('tenants/') ? text.replace(from, to) : text]),
    )
  const EDIT = 'kind: ClusterRole\n  name: edit'
  const lacking = withoutObject('rbac.yaml', 'RoleBinding')
  const wide = (name: string, rule: string) =>
    `kind: ClusterRole\n  name: ${name}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: ${name}\nrules:\n  - ${rule}\n---\n`
  /** Behind the binding comes the rest of the file: subjects are those of the object that is last. */
  const FOR_ALL = 'kind: ClusterRoleBinding'

  test.each([
    ['cluster-admin', 'kind: ClusterRole\n  name: cluster-admin', 'RoleBinding to `cluster-admin`'],
    ['a role of the fleet', 'kind: ClusterRole\n  name: tenant-root', 'RoleBinding to `tenant-root`'],
    ['a name that is Markdown', 'kind: ClusterRole\n  name: "`x`"', 'RoleBinding to `\\u{60}x\\u{60}`'],
  ])('%s', (_, role, said) => {
    const [plan] = complete(changed(lacking, EDIT, role), changed(BEFORE, EDIT, role))
    expect(plan!.files[0]!.added.join('\n')).toContain(`${EDIT}\n`)
    const text = completionText(plan!, false)
    expect(/^Not copied from other tenants: (.*?)\. This account/m.exec(text)?.[1]?.split(', ')).toContain(said)
    expect(text).toContain('This account gets `edit` in its namespace.')
  })

  test.each([
    ['escalate', '{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate, bind]}'],
    ['impersonate', '{apiGroups: [""], resources: [users, groups, serviceaccounts], verbs: [impersonate]}'],
    ['everything', '{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}'],
  ])('a ClusterRoleBinding of a role with %s', (name, rule) => {
    const binding = `apiVersion: rbac.authorization.k8s.io/v1\n${FOR_ALL}\nmetadata:\n  name: ops-${name}\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  ${wide(`ops-${name}`, rule).replace(/---\n$/, '')}`
    const [reference = '', ...definition] = binding.split('---\n')
    const subjects = 'subjects:\n  - kind: ServiceAccount\n    name: ops-team\n    namespace: ops\n'
    const path = 'tenants/base/ops-team/rbac.yaml'
    const more = (files: Files) => ({
      ...files,
      [path]: `${files[path]!.trimEnd()}\n---\n${reference}${subjects}---\n${definition.join('---\n')}`,
    })
    const [plan] = complete(more(lacking), more(BEFORE))
    const added = plan!.files.flatMap(file => file.added).join('\n')
    expect(added).toContain(`${EDIT}\n`)
    expect(added).not.toMatch(/ClusterRoleBinding|escalate|impersonate/)
    expect(completionText(plan!, false)).toMatch(new RegExp(`^Not copied .*ClusterRoleBinding to \`ops-${name}\``, 'm'))
  })

  test.each([
    [5, 'ClusterRoleBinding to `r3`. This account'],
    [6, 'ClusterRoleBinding to `r3` and 1 more. This account'],
  ])('of %s, five are named and the others counted', (count, said) => {
    const path = 'tenants/base/ops-team/rbac.yaml'
    const binding = (index: number) =>
      `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b${index}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r${index}}\nsubjects: []\n`
    // the first is the one of dev-team, to cluster-admin
    const more = Array.from({ length: count - 1 }, (_, index) => binding(index)).join('')
    const withMore = (files: Files) => ({ ...files, [path]: `${files[path]!.trimEnd()}\n${more}` })
    const [plan] = complete(withMore(lacking), withMore(BEFORE))
    expect(completionText(plan!, false)).toContain(said)
  })

  test('where all have the same, and where somebody wrote the binding, nothing is said', () => {
    const ADMIN = 'kind: ClusterRole\n  name: cluster-admin'
    const [same] = complete(changed(lacking, ADMIN, EDIT), changed(BEFORE, ADMIN, EDIT))
    expect(completionText(same!, false)).not.toContain('Not copied')
    const [written] = complete(changed(without(`${FOLDER}/sync.yaml`), EDIT, ADMIN), changed(BEFORE, EDIT, ADMIN))
    expect(completionText(written!, false)).not.toContain('Not copied')
  })
})

test('a Secret that other tenants keep in git is named', () => {
  const withSecret = (files: Files, tenant: string, namespace: string) => ({
    ...files,
    [`tenants/base/${tenant}/sync.yaml`]: files[`tenants/base/${tenant}/sync.yaml`]!.replace(
      'spec:\n  interval: 1m0s\n  ref:',
      `spec:\n  interval: 1m0s\n  secretRef:\n    name: ${tenant}-auth\n  ref:`,
    ),
    [`tenants/base/${tenant}/auth.yaml`]: `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${tenant}-auth\n  namespace: ${namespace}\n`,
    [`tenants/base/${tenant}/kustomization.yaml`]: files[`tenants/base/${tenant}/kustomization.yaml`]!.replace(
      '  - rbac.yaml\n',
      '  - auth.yaml\n  - rbac.yaml\n',
    ),
  })
  const before = withSecret(BEFORE, 'ops-team', 'ops')
  const ops = Object.entries(before).filter(([path]) => path.includes('/ops-team/'))
  const whole = withSecret({ ...WHOLE, ...Object.fromEntries(ops) }, 'web-team', 'web')
  expect(complete(whole, before)).toEqual([])
  const { [`${FOLDER}/auth.yaml`]: _, ...after } = whole
  after[`${FOLDER}/kustomization.yaml`] = after[`${FOLDER}/kustomization.yaml`]!.replace('  - auth.yaml\n', '')
  expect(complete(after, before)).toMatchObject([
    { secret: { name: 'web-team-auth', file: `${FOLDER}/auth.yaml` }, files: [] },
  ])
})
