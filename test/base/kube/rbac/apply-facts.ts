import type { Json } from '../../../../src/kube/node.ts'
import { KINDS, NAMESPACE, objectOf, STANDING, urlOf } from './applied-kinds.ts'
import { binding, role } from './plain-object.ts'
import type { ApplyQuestion } from './random-apply.ts'

/** What the evaluation of applied objects relies on, each asked of the real API server too. */
interface ApplyFact extends ApplyQuestion {
  readonly what: string
  readonly rbac: readonly Json[]
  /** The verb that is refused when it is applied, or what else the API server says; '' where it is applied. */
  readonly refused: string
}

const DEV = 'system:serviceaccount:apps:dev'
const APPLY = ['patch', 'create']
const kindOf = (name: string) => KINDS.find(({ kind }) => kind === name)!
const map = (name: string, namespace = 'apps') => objectOf(kindOf('ConfigMap'), namespace, name)
const space = (name: string) => objectOf(NAMESPACE, '', name)
const rule = (verbs: readonly string[], resource: string, apiGroup = '', names: readonly string[] = []): Json => ({
  verbs: [...verbs],
  apiGroups: [apiGroup],
  resources: [resource],
  resourceNames: [...names],
})

/** May `dev` apply it, where a Role of these rules in the namespace apps is bound to this subject? */
function fact(
  what: string,
  refused: string,
  object: Json,
  rules: Json[],
  subject = 'ServiceAccount apps/dev',
): ApplyFact {
  const rbac = [role('apps', 'own', rules), binding('apps', 'own', 'Role own', subject)]
  return asked(what, refused, object, rbac)
}

function asked(what: string, refused: string, object: Json, rbac: readonly Json[]): ApplyFact {
  const before = [...STANDING, ...rbac].find(one => urlOf(one) === urlOf(object))
  return { what, refused, object, rbac, user: DEV, ...(before === undefined ? {} : { before }) }
}

const MAPS = [rule(APPLY, 'configmaps')]
const BINDINGS = rule(APPLY, 'rolebindings', 'rbac.authorization.k8s.io')

export const FACTS: readonly ApplyFact[] = [
  fact('an account that does not exist', '', map('a'), MAPS),
  fact('an account of the namespace of its binding', '', map('a'), MAPS, 'ServiceAccount dev'),
  fact('an account of another namespace', 'patch', map('a'), MAPS, 'ServiceAccount other/dev'),
  fact('a user that spells the account', '', map('a'), MAPS, `User ${DEV}`),
  fact('the group of all accounts', '', map('a'), MAPS, 'Group system:serviceaccounts'),
  fact('the group of the accounts of a namespace', '', map('a'), MAPS, 'Group system:serviceaccounts:apps'),
  fact('the group of the accounts of another namespace', 'patch', map('a'), MAPS, 'Group system:serviceaccounts:other'),
  fact('the group of everybody who is known', '', map('a'), MAPS, 'Group system:authenticated'),
  fact('a group that the account spells', 'patch', map('a'), MAPS, `Group ${DEV}`),
  fact('without create, where it is not there', 'create', map('a'), [rule(['patch'], 'configmaps')]),
  fact('without create, where it is there', '', map('standing'), [rule(['patch'], 'configmaps')]),
  fact('without patch', 'patch', map('a'), [rule(['get', 'create', 'update'], 'configmaps')]),
  fact('without patch, where it is there', 'patch', map('standing'), [rule(['get', 'create', 'update'], 'configmaps')]),
  fact('a new object by its name', '', map('a'), [rule(APPLY, 'configmaps', '', ['a'])]),
  fact('a new object by another name', 'patch', map('a'), [rule(APPLY, 'configmaps', '', ['b'])]),
  fact('without list', '', objectOf(kindOf('Deployment'), 'apps', 'a'), [rule(APPLY, 'deployments', 'apps')]),
  fact('a Namespace from within', '', space('apps'), [rule(APPLY, 'namespaces')]),
  fact('another Namespace from within', 'patch', space('other'), [rule(APPLY, 'namespaces')]),
  fact('a new Namespace from within another', 'patch', space('fresh'), [rule(APPLY, 'namespaces')]),
  asked('a new Namespace from within itself', 'patch', space('fresh'), [
    role('', 'own', [rule(APPLY, 'namespaces')]),
    binding('apps', 'own', 'ClusterRole own', 'ServiceAccount apps/dev'),
  ]),
  asked('a Namespace that may be patched everywhere and not created', 'create', space('fresh'), [
    role('', 'own', [rule(['patch'], 'namespaces')]),
    binding('', 'own', 'ClusterRole own', 'ServiceAccount apps/dev'),
  ]),
  asked('an object of a missing namespace', 'namespaces "nowhere" not found', map('a', 'nowhere'), [
    role('', 'own', [rule(['patch'], 'configmaps')]),
    binding('', 'own', 'ClusterRole own', 'ServiceAccount apps/dev'),
  ]),
  fact('a binding to a missing role', 'not found', binding('apps', 'new', 'Role missing', 'User a'), [BINDINGS]),
  fact('a binding to what is held', '', binding('apps', 'new', 'Role own', 'User a'), [BINDINGS, ...MAPS]),
  fact(
    'a binding to what is not held',
    'attempting to grant',
    binding('apps', 'new', 'ClusterRole system:node-problem-detector', 'User a'),
    [BINDINGS],
  ),
  fact(
    'what is granted is asked before create',
    'attempting to grant',
    binding('apps', 'new', 'ClusterRole system:node-problem-detector', 'User a'),
    [rule(['patch'], 'rolebindings', 'rbac.authorization.k8s.io')],
  ),
  fact('a binding to a missing role with bind', '', binding('apps', 'new', 'Role missing', 'User a'), [
    BINDINGS,
    rule(['bind'], 'roles', 'rbac.authorization.k8s.io'),
  ]),
]
