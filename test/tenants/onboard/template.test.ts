// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of a fleet
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { BailiwickError } from '../../../src/base/errors.ts'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import type { Tree } from '../../../src/git/tree.ts'
import { display, idOf } from '../../../src/kube/object.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { type OnboardPlan, planOnboarding } from '../../../src/tenants/onboard/plan.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import { acmeFleet } from './fleets.ts'

const URL = 'https://github.com/acme/fleet'
const QUOTA = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: ${TENANT}\nspec:\n  hard:\n    pods: "50"\n'
const LIMITS = 'apiVersion: v1\nkind: LimitRange\nmetadata: {name: limits}\nspec: {limits: [{type: Pod}]}\n'
const POLICY =
  '# traffic of the namespace alone\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: own\n  labels:\n    ${TENANT}/part: ${ACCOUNT}\nspec:\n  podSelector: {}\n'
const FILES = { 'quota.yaml': QUOTA, 'limits.yaml': `${LIMITS}---\n${POLICY}` }

function fleet(files: Record<string, string>, folder = 'tenants/template'): Tree {
  return overlayTree(
    acmeFleet(),
    new Map(Object.entries(files).map(([name, text]) => [name.includes('/') ? name : `${folder}/${name}`, text])),
  )
}

function plan(tree: Tree, args: readonly string[] = [], tenant = 'ops-team', namespaces = ['ops']): OnboardPlan {
  const where = [...namespaces.flatMap(name => ['--namespace', name]), '--cluster', 'staging']
  const request = parseOnboardArguments([tenant, '--repo', 'https://github.com/acme/ops-team', ...where, ...args])
  return planOnboarding(request, tree, URL, 'main')
}

const fileOf = ({ files }: OnboardPlan, path: string) => files.find(file => file.path === path)?.content
const applied = (tree: Tree, { files }: OnboardPlan) =>
  overlayTree(tree, new Map(files.map(file => [file.path, file.content])))
const objectsOf = (text: string) => parseAllDocuments(text, { version: '1.1' }).map(document => document.toJS())

function refusal(make: () => unknown): { message: string; fix: string | undefined; file: string | undefined } {
  try {
    make()
  } catch (error) {
    if (error instanceof BailiwickError)
      return {
        message: error.message,
        fix: error.fix,
        file: error.origin && `${error.origin.file}:${error.origin.line}`,
      }
    throw error
  }
  throw new Error('was not refused')
}

describe('the template of a fleet', () => {
  test('each object is in each namespace, and rendered with the tenant', () => {
    const tree = fleet(FILES)
    const made = plan(tree, [], 'ops-team', ['ops', 'ops-jobs'])
    expect(objectsOf(fileOf(made, 'tenants/base/ops-team/quota.yaml')!)).toEqual(
      ['ops', 'ops-jobs'].map(namespace => ({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'ops-team', namespace },
        spec: { hard: { pods: '50' } },
      })),
    )
    expect(fileOf(made, 'tenants/base/ops-team/kustomization.yaml')).toContain(
      '  - rbac.yaml\n  - sync.yaml\n  - limits.yaml\n  - quota.yaml\n',
    )
    const node = fleetAt(applied(tree, made), URL, 'main').nodes.find(one => one.key === 'staging/flux-system/tenants')
    const names = node!.objects.map(object => display(idOf(object)))
    for (const name of ['ResourceQuota ops/ops-team', 'LimitRange ops-jobs/limits', 'NetworkPolicy ops/own']) {
      expect(names).toContain(name)
    }
    expect(fileOf(made, 'tenants/base/ops-team/limits.yaml')).toContain('# traffic of the namespace alone')
    expect(fileOf(made, 'tenants/base/ops-team/limits.yaml')).toContain('ops-team/part: ops-team')
  })

  test('again: nothing to do, even when a person has changed a file since', () => {
    const tree = fleet(FILES)
    const once = applied(tree, plan(tree))
    expect(plan(once).files).toEqual([])
    const quota = 'tenants/base/ops-team/quota.yaml'
    const larger = new TextDecoder().decode(once.read(quota)).replace('"50"', '"90"')
    expect(plan(overlayTree(once, new Map([[quota, larger]]))).files).toEqual([])
  })

  test.each(['null', 'on', '1e3', '0x1f', '12', '2024-01-02', 'y'])('the name %s stays text', name => {
    const made = plan(fleet(FILES), [], name, [`${name}-a`])
    const [quota] = objectsOf(fileOf(made, `tenants/base/${name}/quota.yaml`)!)
    expect(quota.metadata).toEqual({ name, namespace: `${name}-a` })
  })

  test('variables of Flux and of scripts stay', () => {
    const script = '      echo ${HOME} $${NAMESPACE} ${cluster_name} ${TENANTS}\n'
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  run: |\n${script}`
    expect(fileOf(plan(fleet({ 'x.yaml': text })), 'tenants/base/ops-team/x.yaml')).toContain(script.trim())
  })

  test('beside the folder of the tenants, or in it', () => {
    for (const folder of ['tenants/template', 'tenants/base/template']) {
      expect(fileOf(plan(fleet(FILES, folder)), 'tenants/base/ops-team/quota.yaml')).toBeDefined()
    }
    expect(fileOf(plan(fleet(FILES, 'other/template')), 'tenants/base/ops-team/quota.yaml')).toBeUndefined()
  })

  test('a file of another type is said to be unused', () => {
    expect(plan(fleet({ 'x.sh': 'rm', 'README.md': 'x' })).summary).toContain(
      'Not used: tenants/template/x.sh is neither YAML nor CODEOWNERS.',
    )
  })

  test.each([
    ['an object of the cluster', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n', 'whole cluster'],
    ['the same in another document', `${QUOTA}---\napiVersion: v1\nkind: Node\nmetadata: {name: x}\n`, 'whole cluster'],
    [
      'another namespace',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: apps}\n',
      'metadata.namespace is another namespace',
    ],
    [
      'an unknown kind',
      'apiVersion: x.example/v1\nkind: Thing\nmetadata: {name: x}\n',
      'it is not known whether Thing',
    ],
    ['no name', 'apiVersion: v1\nkind: Secret\n', 'metadata.name is missing'],
    ['no object', '- a\n', 'is not a Kubernetes object'],
    ['no kind', 'apiVersion: v1\n', 'is not a Kubernetes object'],
    ['no YAML', 'a: [b\n', 'is not valid YAML'],
    ['a team that is not named', `${QUOTA}  # x\n`.replace('${TENANT}', '${TEAM}'), 'the request names no team'],
    ['too much', `# ${'x'.repeat(70_000)}\n`, 'is larger than 64 KiB'],
  ])('%s: refused with file and line', (_name, text, words) => {
    const { message, file, fix } = refusal(() => plan(fleet({ 'x.yaml': text })))
    expect(message).toContain(`tenants/template/x.yaml: `)
    expect(message).toContain(words)
    expect([file, fix]).toEqual([expect.stringMatching(/^tenants\/template\/x\.yaml:\d+$/), expect.any(String)])
  })

  test('an unknown kind that says where it belongs is used', () => {
    const text = 'apiVersion: x.example/v1\nkind: Thing\nmetadata: {name: x, namespace: "${NAMESPACE}"}\n'
    expect(fileOf(plan(fleet({ 'x.yaml': text })), 'tenants/base/ops-team/x.yaml')).toContain('namespace: ops')
  })

  test('names that are written for each tenant anyway, and too many files', () => {
    for (const name of ['rbac.yaml', 'sync.yaml', 'auth.yaml']) {
      expect(refusal(() => plan(fleet({ [name]: QUOTA }))).message).toContain(
        `tenants/template/${name}: a file of this`,
      )
    }
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}.yaml`, '']))
    expect(refusal(() => plan(fleet(many))).message).toContain('has more than 50 files')
  })

  test('aliases cost nothing', () => {
    const levels = Array.from({ length: 30 }, (_, i) => `    a${i}: &a${i} [${i ? `*a${i - 1}, *a${i - 1}` : 'x'}]\n`)
    const text = `apiVersion: x.example/v1\nkind: Thing\nmetadata:\n  name: x\n  namespace: "\${NAMESPACE}"\nspec:\n${levels.join('')}`
    const { message } = refusal(() => plan(fleet({ 'x.yaml': text })))
    expect(message).toMatch(/alias|cannot be added/)
  })
})

describe('lines for CODEOWNERS', () => {
  const OWNERS = '# of a tenant\n/tenants/base/${TENANT}/ @acme/platform @${TEAM}\n'

  test('come behind those of the fleet, once', () => {
    const tree = fleet({ CODEOWNERS: OWNERS, '.github/CODEOWNERS': '* @acme/platform' })
    const made = plan(tree, ['--team', '@acme/ops'])
    expect(fileOf(made, '.github/CODEOWNERS')).toBe(
      '* @acme/platform\n/tenants/base/ops-team/ @acme/platform @acme/ops\n',
    )
    expect(plan(applied(tree, made), ['--team', 'acme/ops']).files).toEqual([])
  })

  test('go where GitHub reads them', () => {
    const tree = fleet({ CODEOWNERS: OWNERS, 'docs/CODEOWNERS': '', '/CODEOWNERS': '' })
    expect(fileOf(plan(tree, ['--team', 'ada']), 'docs/CODEOWNERS')).toContain('@ada\n')
    expect(fileOf(plan(fleet({ CODEOWNERS: OWNERS }), ['--team', 'ada']), '.github/CODEOWNERS')).toContain('@ada\n')
  })

  test('a team that is none is refused', () => {
    for (const team of ['a b', 'acme/ops @evil', '@@x', 'a/b/c', '-x/y', '*']) {
      expect(refusal(() => plan(fleet({ CODEOWNERS: OWNERS }), ['--team', team])).message).toMatch(/--team/)
    }
    expect(refusal(() => plan(fleet({ CODEOWNERS: OWNERS }))).message).toContain('the request names no team')
  })
})
