import type { FunctionLibrary } from '../../cel/function-library.ts'
import { kubernetesLibrary } from '../../cel/kubernetes/kubernetes-library.ts'
import { PolicyExpression } from '../../cel/kubernetes/policy-expression.ts'
import { at, itemsOf, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'

/** An expression of a policy and where it stands; `problem`: why it cannot be compiled. */
export interface CelRule {
  readonly name: string
  readonly text: string
  readonly expression: PolicyExpression | { readonly problem: string }
  readonly origin: Origin
}

export interface Validation extends CelRule {
  readonly message: string
  readonly messageExpression: PolicyExpression | { readonly problem: string } | undefined
  /** The field of the object that it reads, as far as that can be seen. */
  readonly field: Path
}

/** The engine that evaluates a policy, and the functions that its expressions may call. */
interface Dialect {
  readonly by: 'Kubernetes' | 'Kyverno'
  readonly library: FunctionLibrary
  /** Rewrites an expression or message before it is compiled. */
  rewrite?(text: string): string
}

/** A policy in CEL, of Kubernetes or in Kyverno's own kinds. */
export interface CelPolicy {
  readonly by: Dialect['by']
  readonly object: KubeObject
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly conditions: readonly CelRule[]
  readonly variables: readonly CelRule[]
  readonly validations: readonly Validation[]
  readonly audits: readonly CelRule[]
  readonly failsClosed: boolean
  readonly constraints: Node | undefined
}

const known = new WeakMap<KubeObject, CelPolicy>()

/** The compiled form of a CEL policy; cached. */
export function celPolicy(object: KubeObject): CelPolicy {
  const kept = known.get(object) ?? compilePolicy(object, { by: 'Kubernetes', library: kubernetesLibrary })
  known.set(object, kept)
  return kept
}

export function compilePolicy(object: KubeObject, dialect: Dialect): CelPolicy {
  const { kind, namespace, name } = idOf(object)
  const of = (field: string) => itemsOf(at(object.root, ['spec', field]))
  return {
    by: dialect.by,
    object,
    ...{ kind, namespace, name },
    conditions: of('matchConditions').map(item => ruleOf(item, 'expression', dialect)),
    variables: of('variables').map(item => ruleOf(item, 'expression', dialect)),
    validations: of('validations').map(item => validationOf(item, dialect)),
    audits: of('auditAnnotations').map(item => ruleOf(item, 'valueExpression', dialect)),
    failsClosed: (stringAt(object.root, ['spec', 'failurePolicy']) ?? 'Fail') !== 'Ignore',
    constraints: at(object.root, ['spec', 'matchConstraints']),
  }
}

function ruleOf(item: Node, key: string, { library, rewrite = same }: Dialect): CelRule {
  const text = rewrite(stringAt(item, [key]) ?? '')
  return {
    name: stringAt(item, ['name']) ?? stringAt(item, ['key']) ?? '',
    text,
    expression: PolicyExpression.compile(text, library),
    origin: at(item, [key])?.origin ?? item.origin,
  }
}

const same = (text: string): string => text

function validationOf(item: Node, dialect: Dialect): Validation {
  const { library, rewrite = same } = dialect
  const rule = ruleOf(item, 'expression', dialect)
  const messageText = rewrite(stringAt(item, ['messageExpression']) ?? '')
  return {
    ...rule,
    message: rewrite(stringAt(item, ['message']) ?? '').trim(),
    messageExpression: messageText.trim() === '' ? undefined : PolicyExpression.compile(messageText, library),
    field: fieldIn(rule.text),
  }
}

/** The longest field of `object` that a text names. */
function fieldIn(text: string): Path {
  const found = [...text.slice(0, 20_000).matchAll(/(?<![\w.])object((?:\.\??[A-Za-z_]\w*)+)(?!\w*\()/g)]
  const paths = found.map(([, fields = '']) => fields.slice(1).replaceAll('?', '').split('.'))
  return paths.reduce<string[]>((best, path) => (path.length > best.length ? path : best), [])
}
