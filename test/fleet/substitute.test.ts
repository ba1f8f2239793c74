// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import { describe, expect, test } from 'vitest'
import { whyIncomplete } from '../../src/fleet/model/fleet.ts'
import { stringAt } from '../../src/kube/node.ts'
import { evaluationOf, type Files, fleetOf } from './fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from './mini-fleet.ts'

const own = '  sourceRef: {kind: GitRepository, name: flux-system}\n'
const from = (...entries: string[]) => `  postBuild: {substituteFrom: [${entries.join(', ')}]}\n`
const kustomization = (name: string, spec: string, namespace = 'flux-system', source = own) =>
  `---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec:\n  interval: 1h\n  prune: true\n${source}  serviceAccountName: kustomize-controller\n  path: ./${name}\n${spec}`
const values = (name: string, data: string, namespace = 'flux-system') =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: ${data}\n`
const shown = values('shown', '{is: "${A}"}')

/** The fleet with these Kustomizations in the cluster's own directory, each of a folder of its name. */
const given = (root: string, folders: Files, more: Files = {}) =>
  miniFleet({
    fleet: {
      'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, more.yaml]\n',
      'clusters/staging/more.yaml': root,
      ...Object.fromEntries(Object.entries(folders).map(([name, text]) => [`${name}/all.yaml`, text])),
      ...more,
    },
  })

/** What the ConfigMap `shown` of a node says, or the node's error. */
function seen(input: Parameters<typeof fleetOf>[0], name: string, namespace = 'flux-system'): string | undefined {
  const node = fleetOf(input).nodes.find(one => one.key === `staging/${namespace}/${name}`)
  if (node?.error) return `${node.error.code} ${node.error.origin?.file}:${node.error.origin?.line}`
  const object = node?.objects.find(one => stringAt(one.root, ['metadata', 'name']) === 'shown')
  return object && stringAt(object.root, ['data', 'is'])
}

describe('values come from what the fleet renders', () => {
  const a = '{kind: ConfigMap, name: a}'

  test('wherever they are rendered, also after their use', () => {
    const root = kustomization('user', from(a)) + kustomization('middle', '')
    const folders = { user: shown, middle: kustomization('giver', ''), giver: values('a', '{A: one}') }
    expect(seen(given(root, folders), 'user')).toBe('one')
    expect(seen(given(root, { ...folders, giver: values('a', '{A: two}') }), 'user')).toBe('two')
  })

  test('through values of values', () => {
    const root = kustomization('user', from(a)) + kustomization('giver', from('{kind: Secret, name: b}'))
    const secret =
      '---\napiVersion: v1\nkind: Secret\nmetadata: {name: b, namespace: flux-system}\nstringData: {B: deep}\n'
    const folders = { user: shown, giver: values('a', '{A: "x-${B}"}') }
    expect(seen(given(root + secret, folders), 'user')).toBe('x-deep')
  })

  test('a Kustomization of a tenant takes those of its own namespace', () => {
    const dev = '  sourceRef: {kind: GitRepository, name: dev-team}\n'
    const child = kustomization('user', from(a), 'apps', dev).replace('kustomize-controller', 'dev-team')
    const files = {
      ...withResource(child + values('a', '{A: mine}', 'apps')),
      'user/all.yaml': values('shown', '{is: "${A}"}', 'apps'),
    }
    expect(seen(miniFleet({ dev: files }), 'user', 'apps')).toBe('mine')
  })

  test('never from an object that a tenant puts into another namespace', () => {
    const root = kustomization('user', from(a))
    const input = given(root, { user: shown })
    const dev = withResource(values('a', '{A: stolen}'))
    expect(seen({ ...input, sources: miniFleet({ dev }).sources! }, 'user')).toBe('${A}')
  })

  test('what is optional may be absent, and is waited for', () => {
    const optional = '{kind: ConfigMap, name: a, optional: true}'
    const root = kustomization('user', from(optional, '{kind: ConfigMap, name: b}')) + kustomization('giver', '')
    const text = shown.replace('${A}', '${A:=none} ${B}')
    const folders = { user: text, giver: values('b', '{B: b}') }
    expect(seen(given(root, folders), 'user')).toBe('none b')
    expect(seen(given(root, { ...folders, giver: values('b', '{B: b}') + values('a', '{A: a}') }), 'user')).toBe('a b')
  })

  describe('that the platform renders only by them', () => {
    const cases: [string, string, Files][] = [
      ['by itself', '', { user: shown + values('a', '{A: x}') }],
      ['by what waits for it', kustomization('b', from('{kind: ConfigMap, name: b}')), { b: values('a', '{A: x}') }],
    ]
    const input = (more: string, folders: Files, file: Files = {}) =>
      given(kustomization('user', from(a)) + more, { user: shown + values('b', '{B: x}'), ...folders }, file)

    test.each(cases)('%s are those that it rendered before', (_what, more, folders) => {
      expect(seen(input(more, folders), 'user')).toBe('x')
    })

    test.each(cases)('%s are missing where undeclared values are forbidden', (_what, more, folders) => {
      const file = { '.github/bailiwick.yaml': 'undeclaredValues: forbid\n' }
      expect(seen(input(more, folders, file), 'user')).toBe('flux-missing-variable clusters/staging/more.yaml:11')
    })

    test('through values of values', () => {
      expect(seen(input('', { user: shown + values('a', '{B: x, A: "${B}y"}') }), 'user')).toBe('xy')
    })

    test('the root, too', () => {
      const sync = fleetFiles['clusters/staging/flux-system/gotk-sync.yaml']!
      const substituting = sync.replace(/(\n {2}path: [^\n]+)/, `$1\n${from(a).trimEnd()}`)
      expect(substituting).not.toBe(sync)
      const inRoot = given(
        values('a', '{A: x}') + shown,
        {},
        { 'clusters/staging/flux-system/gotk-sync.yaml': substituting },
      )
      expect(seen(inRoot, 'flux-system')).toBe('x')
    })

    test('never values that change each time', () => {
      const root = kustomization('user', from('{kind: ConfigMap, name: a, optional: true}'))
      const folders = { user: shown.replace('${A}', '${A:=none}') + values('a', '{A: "${A:=x}y"}') }
      expect(seen(given(root, folders), 'user')).toMatch(/^graph-conflict|^\$/)
    })

    test('and stay unknown where they are made of themselves', () => {
      expect(seen(input('', { user: shown + values('a', '{A: "${A}x"}') }), 'user')).toBe('${A}')
    })

    test('never those of a tenant', () => {
      const dev = '  sourceRef: {kind: GitRepository, name: dev-team}\n'
      const child = kustomization('user', from(a), 'apps', dev).replace('kustomize-controller', 'dev-team')
      const files = {
        ...withResource(child),
        'user/all.yaml': values('shown', '{is: "${A}"}', 'apps') + values('a', '{A: mine}', 'apps'),
      }
      expect(seen(miniFleet({ dev: files }), 'user', 'apps')).toMatch(/graph-conflict|\$\{A\}/)
    })
  })

  test('what is rendered twice, differently, is an error; the same twice is none', () => {
    const root = kustomization('user', from(a)) + kustomization('one', '') + kustomization('two', '')
    const folders = { user: shown, one: values('a', '{A: x}'), two: values('a', '{A: x}') }
    expect(seen(given(root, folders), 'user')).toBe('x')
    expect(seen(given(root, { ...folders, two: values('a', '{A: y}') }), 'user')).toMatch('graph-conflict')
  })

  test('what is optional and comes from behind it is there the next time', () => {
    const root = kustomization('user', from('{kind: ConfigMap, name: a, optional: true}'))
    const folders = { user: shown.replace('${A}', '${A:=none}') + values('a', '{A: x}') }
    expect(seen(given(root, folders), 'user')).toBe('x')
  })

  test('an unknown value and the same text written out are not the same', () => {
    const root = kustomization('user', from(a)) + kustomization('one', from('{kind: Secret, name: s}'))
    const both = root + kustomization('two', '')
    const file = 'substituteFrom:\n- {kind: Secret, namespace: flux-system, name: s, opaque: [X]}\n'
    const input = (text: string) =>
      given(
        both,
        { user: shown, one: values('a', '{A: "${X}"}'), two: values('a', text) },
        { '.github/bailiwick.yaml': file },
      )
    expect(seen(input('{A: "${X}"}'), 'user')).toMatch('graph-conflict')
  })

  test('a changed value changes what the node would apply', () => {
    const root = kustomization('user', from(a))
    const digest = (text: string) =>
      fleetOf(given(root + values('a', text), { user: shown })).nodes.find(node => node.name === 'user')!.digest
    expect(digest('{A: x}')).not.toBe(digest('{A: y}'))
  })
})

describe('a Secret that an ExternalSecret of the platform makes has the keys that git gives', () => {
  const b = from('{kind: Secret, name: b}')
  const made = (spec: string, name = 'b') =>
    `---\napiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: ${name}, namespace: flux-system}\nspec: ${spec}\n`
  const template = (more = '') =>
    `{target: {template: {data: {DOMAIN: "{{ .DOMAIN }}"}${more}}}, dataFrom: [{extract: {key: all}}]}`
  // the name of an object decides what is applied, so it must be known
  const user = shown.replace('{name: shown', '{name: "${NAME:=shown}"').replace('${A}', 'known')
  const inRoot = (...secrets: string[]) => causeOf(given(kustomization('user', b) + secrets.join(''), { user }))
  const causeOf = (input: Parameters<typeof fleetOf>[0], namespace = 'flux-system') => {
    const node = fleetOf(input).nodes.find(one => one.key === `staging/${namespace}/user`)!
    return whyIncomplete(node)?.code ?? seen(input, 'user', namespace)
  }
  const unknown = 'unrendered-variable'

  test.each([
    ['those of its template', template()],
    ['those that it reads', '{data: [{secretKey: DOMAIN, remoteRef: {key: all, property: domain}}]}'],
    ['of another name', `{target: {name: b}, data: [{secretKey: DOMAIN, remoteRef: {key: all}}]}`, 'c'],
  ])('%s', (_, spec, name = 'b') => expect(inRoot(made(spec, name))).toBe('known'))

  test.each([
    ['one of them is the name', template().replaceAll('DOMAIN', 'NAME')],
    ['whatever is read', '{dataFrom: [{extract: {key: all}}]}'],
    ['a template without data', '{target: {template: {type: Opaque}}, dataFrom: [{extract: {key: all}}]}'],
    ['texts of keys', '{target: {template: {templateFrom: [{literal: "{{ .all }}"}]}}}'],
    ['beside those of the template', template(', mergePolicy: Merge')],
    ['of a Secret that is made once', template().replace('{target', '{refreshPolicy: CreatedOnce, target')],
    ['beside those of a Secret', '{target: {creationPolicy: Merge}, data: [{secretKey: DOMAIN, remoteRef: {key: a}}]}'],
  ])('not known: %s', (_, spec) => expect(inRoot(made(spec))).toBe(unknown))

  test('two that differ are unknown, or an error if one was used before', () => {
    const other = made('{target: {name: b, creationPolicy: Merge}, dataFrom: [{extract: {key: all}}]}', 'c')
    expect(inRoot(made(template()), other)).toBe(unknown)
    expect(inRoot(other, made(template()))).toBe(unknown)
    const late = given(kustomization('user', b) + made(template()), { user: user + other })
    expect(causeOf(late)).toBe('graph-conflict')
  })

  test('one that comes of the Kustomization itself says nothing in time', () => {
    expect(causeOf(given(kustomization('user', b), { user: user + made(template()) }))).toBe(unknown)
  })

  test('one in git, too, has values of the cluster', () => {
    const secret = values('b', '{NAME: shown}').replace('ConfigMap', 'Secret').replace('\ndata:', '\nstringData:')
    expect(inRoot(secret)).toBe('known')
    expect(inRoot(secret, made(template()))).toBe(unknown)
    expect(inRoot(made(template()), secret)).toBe(unknown)
  })

  test.each(['ssa: IfNotPresent', 'ssa: ignore', 'reconcile: disabled'])(
    '%s: the cluster may have other values',
    mark => {
      const secret = values('b', '{NAME: shown}').replace('ConfigMap', 'Secret').replace('\ndata:', '\nstringData:')
      const marked = (part: string) =>
        secret.replace('{name: b', `{${part}: {kustomize.toolkit.fluxcd.io/${mark}}, name: b`)
      expect(['labels', 'annotations'].map(part => inRoot(marked(part)))).toEqual([unknown, unknown])
    },
  )

  test('a tenant may merge more into it', () => {
    const dev = '  sourceRef: {kind: GitRepository, name: dev-team}\n'
    const child = kustomization('user', b, 'apps', dev).replace('kustomize-controller', 'dev-team')
    const files = { ...withResource(child), 'user/all.yaml': user.replaceAll('flux-system', 'apps') }
    const secret = made(template()).replace('namespace: flux-system', 'namespace: apps')
    const input = given(secret, {})
    expect(causeOf({ ...input, sources: miniFleet({ dev: files }).sources! }, 'apps')).toBe(unknown)
  })
})

describe('values that only the cluster has', () => {
  const root = kustomization('user', from('{kind: Secret, name: s}'))
  const declare = (text: string) => given(root, { user: shown }, { '.github/bailiwick.yaml': text })
  const entry = (more: string) => `substituteFrom:\n- {kind: Secret, namespace: flux-system, name: s, ${more}}\n`

  test('are declared', () => {
    expect(seen(declare(entry('values: {A: told}')), 'user')).toBe('told')
    expect(seen(declare(entry('cluster: staging, values: {A: told}')), 'user')).toBe('told')
    expect(seen(declare(entry('cluster: other, values: {A: told}')), 'user')).toBe('${A}')
  })

  test.each(['opaque: true', 'opaque: [A]'])('with %s the node is judged, and not applied', more => {
    const { verdict, nodes } = evaluationOf(declare(entry(more)))
    expect(verdict).toMatchObject({ result: 'pass', errors: [] })
    expect(nodes.find(node => node.name === 'user')!.refused).toEqual(['values that only the cluster has'])
  })

  describe('and nothing declares', () => {
    const undeclared = (spec: string, text = shown, file: Files = {}) =>
      given(kustomization('user', spec), { user: text }, file)
    const needed = from('{kind: Secret, name: s}')
    const optional = '  postBuild: {substitute: {B: b}, substituteFrom: [{kind: Secret, name: s, optional: true}]}\n'
    const strict = { '.github/bailiwick.yaml': 'undeclaredValues: forbid\n' }
    const once = [{ source: 'Secret/flux-system/s', url: '', what: 'values' }]

    test('are unknown in a node of the platform, listed once for each cluster, and not applied', () => {
      const twice = given(kustomization('user', needed) + kustomization('other', needed), { user: shown, other: '' })
      const { verdict, nodes } = evaluationOf(undeclared(needed))
      expect(verdict).toMatchObject({ result: 'pass', errors: [] })
      expect(verdict.notSeen).toMatchObject(once)
      expect(fleetOf(twice).notSeen).toMatchObject(once)
      expect(nodes.find(node => node.name === 'user')!.refused).toEqual(['values that only the cluster has'])
    })

    test('are missing where the fleet forbids them', () => {
      const { notSeen } = fleetOf(undeclared(needed, shown, strict))
      expect(notSeen).toEqual([])
      expect(seen(undeclared(needed, shown, strict), 'user')).toBe(
        'flux-missing-variable clusters/staging/more.yaml:11',
      )
      expect(seen(undeclared(optional, shown, strict), 'user')).toBe('flux-missing-variable user/all.yaml:5')
    })

    test('may be any of the values before them', () => {
      const first = `  postBuild: {substituteFrom: [{kind: ConfigMap, name: a}, {kind: Secret, name: s}]}\n`
      const known = kustomization('user', first) + values('a', '{A: known}')
      expect(seen(given(known, { user: shown }), 'user')).toBe('${A}')
      const last = first.replace(/(\{kind: C.*?\}), (.*?\})/, '$2, $1')
      expect(seen(given(known.replace(first, last), { user: shown }), 'user')).toBe('known')
    })

    test('count as absent where they are optional, but for what nothing else sets', () => {
      expect(seen(undeclared(optional), 'user')).toBe('${A}')
      const withDefault = values('shown', '{is: "${A:=none}"}')
      expect(seen(undeclared(optional, withDefault), 'user')).toBe('none')
      // without any variable Flux substitutes nothing, not even defaults
      expect(seen(undeclared(from('{kind: Secret, name: s, optional: true}'), withDefault), 'user')).toBe('${A:=none}')
      const { verdict, nodes } = evaluationOf(undeclared(optional))
      expect(verdict).toMatchObject({ result: 'pass', errors: [] })
      expect(verdict.notSeen).toMatchObject(once)
      expect(nodes.find(node => node.name === 'user')!.refused).toEqual(['values that only the cluster has'])
    })

    test('are an error where an account of a tenant may write them', () => {
      const role = `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: dev, namespace: flux-system}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]\n`
      const { verdict } = evaluationOf(given(kustomization('user', needed) + role, { user: shown }))
      const found = [...verdict.errors, ...verdict.violations].map(one => ('code' in one ? one.code : one.rule))
      expect(found).toContain('unrendered-variable')
    })
  })

  describe('count from the base of a change on', () => {
    const digest = (evaluation: ReturnType<typeof evaluationOf>) =>
      evaluation.nodes.find(node => node.name === 'user')!.digest
    const [old, changed] = [declare(entry('values: {A: old}')), declare(entry('values: {A: new}'))]

    test('a change is not judged by what it declares itself', () => {
      expect(digest(evaluationOf(old))).not.toBe(digest(evaluationOf(changed)))
      const evaluation = evaluationOf(changed, { base: old })
      expect(digest(evaluation)).toBe(digest(evaluationOf(old)))
      expect(evaluation.verdict.revisionSet).not.toBe(evaluationOf(changed).verdict.revisionSet)
    })

    test('nor by what it takes away, or is the first to declare', () => {
      const none = given(root, { user: shown })
      expect(digest(evaluationOf(none, { base: old }))).toBe(digest(evaluationOf(old)))
      expect(digest(evaluationOf(old, { base: none }))).toBe(digest(evaluationOf(none)))
    })

    test('but a file that cannot be read is told of', () => {
      const { verdict } = evaluationOf(declare('nonsense: 1\n'), { base: old })
      expect(verdict).toMatchObject({ result: 'error', errors: [{ code: 'config', state: 'new' }] })
    })
  })

  test('a name that is not declared is not there', () => {
    expect(seen(declare(entry('opaque: [B]')), 'user')).toBe('flux-missing-variable user/all.yaml:5')
  })

  test('what is declared and rendered is an error', () => {
    const secret =
      '---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: flux-system}\nstringData: {A: x}\n'
    const input = given(root + secret, { user: shown }, { '.github/bailiwick.yaml': entry('values: {A: told}') })
    expect(seen(input, 'user')).toMatch('graph-conflict')
  })

  test.each([
    'substituteFroms: []\n',
    'substituteFrom: {}\n',
    entry('valeus: {A: x}'),
    entry('values: {A: 1}'),
    entry('opaque: false'),
    entry('values: {A: x}, opaque: [A]'),
    entry('values: {A: x}') + entry('values: {A: x}').split('\n')[1],
    'substituteFrom: [{kind: Pod, namespace: a, name: b, opaque: true}]\n',
    'substituteFrom: [{kind: Secret, name: b, opaque: true}]\n',
    '- a\n',
    'a: [\n',
  ])('a file that says something else is an error of the cluster: %s', text => {
    const [node] = fleetOf(declare(text)).nodes
    expect(node!.error?.origin?.file).toBe('.github/bailiwick.yaml')
  })
})

test('an older Flux takes an absent variable for the empty text', () => {
  const root = kustomization('user', '  postBuild: {substitute: {B: b}}\n')
  const file = 'clusters/staging/flux-system/gotk-components.yaml'
  const gate = '            - --feature-gates=StrictPostBuildSubstitutions=false\n'
  const old = { [file]: fleetFiles[file]!.replaceAll('            - --log-level=info\n', `$&${gate}`) }
  expect(seen(given(root, { user: shown }), 'user')).toBe('flux-missing-variable user/all.yaml:5')
  expect(seen(given(root, { user: shown }, old), 'user')).toBe('')
})
