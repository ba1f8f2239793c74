import type { Variable, VariableSource } from '../../flux/substitute/variable.ts'
import { plainVariable } from '../../flux/substitute/variable-source.ts'
import { type Node, stringAt, type ValueHolder } from '../../kube/node.ts'
import type { Declaration } from '../model/fleet-config.ts'
import { CLUSTER, NAME, NAMESPACE } from './names.ts'
import { needed, oneOf, optional, record, type Shape, wrong } from './shape.ts'

const VALUES = 'a map of variable names to quoted strings'
const OPAQUE = 'true, or a list of variable names'

const values: Shape<ReadonlyMap<string, Variable>> = {
  allowed: VALUES,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  read(node, key) {
    if (node.type !== 'map') throw wrong(node.origin, `${key} is not a map`, VALUES)
    const variables = new Map<string, Variable>()
    for (const [name, { value }] of node.fields) {
      const text = stringAt(value, [])
      // what is written there is not told: it may be a secret all the same
      if (text === undefined) throw wrong(value.origin, `a value of ${key} is not a string`, VALUES)
      variables.set(name, plainVariable(text, value.origin))
    }
    return variables
  },
}

interface Opaque {
  readonly rest?: Variable
  readonly names: ReadonlyMap<string, Variable>
}

const opaque: Shape<Opaque> = {
  allowed: OPAQUE,
  schema: { anyOf: [{ const: true }, { type: 'array', uniqueItems: true, items: { type: 'string', minLength: 1 } }] },
  read(node, key) {
    if (node.type === 'scalar' && node.value === true) return { rest: hidden(node), names: new Map() }
    if (node.type !== 'list') throw wrong(node.origin, `${key} is neither true nor a list`, OPAQUE)
    const names = new Map<string, Variable>()
    for (const item of node.items) {
      const name = stringAt(item, [])
      if (!name || names.has(name))
        throw wrong(item.origin, `a name under ${key} is not a string, or is listed twice`, OPAQUE)
      names.set(name, hidden(item))
    }
    return { names }
  },
}

const hidden = ({ origin }: Node): Variable => ({ value: '', origin, hidden: 'opaque' })

/** The same with where it lies. */
function held(variable: Variable, holder: ValueHolder): Variable {
  return variable.hidden === 'opaque' ? { ...variable, holders: [holder] } : variable
}

const fields = record('the data of a ConfigMap or Secret', {
  kind: needed(oneOf('ConfigMap', 'Secret'), 'ConfigMap or Secret.'),
  namespace: needed(NAMESPACE, 'Its namespace.'),
  name: needed(NAME, 'Its name.'),
  cluster: optional(CLUSTER, 'The cluster that has it. Default: every cluster.'),
  values: optional(values, 'Its known data. No secrets.'),
  opaque: optional(opaque, 'Its other keys, with unknown values: a list of keys, or true for any key.'),
})

/** One entry of `substituteFrom`: a ConfigMap or Secret that only the cluster has. */
export const declaration: Shape<Declaration> = {
  allowed: fields.allowed,
  schema: { ...fields.schema, anyOf: [{ required: ['values'] }, { required: ['opaque'] }] },
  read(node, key) {
    const { kind, namespace, name, cluster, values: known, opaque: rest, origin } = fields.read(node, key)
    if (!known && !rest) throw wrong(origin, `${key} has neither values nor opaque`, 'values, opaque, or both')
    const twice = [...(rest?.names ?? [])].find(([each]) => known?.has(each))
    if (twice) throw wrong(twice[1].origin, `a name under ${key}.opaque is also under values`, OPAQUE)
    const holder = { kind, namespace, name }
    const names = [...(rest?.names ?? [])].map(
      ([key, one]) => [key, held(one, { ...holder, key, declared: 'key' })] as const,
    )
    const source: VariableSource = {
      variables: new Map([...(known ?? []), ...names]),
      ...(rest?.rest ? { rest: held(rest.rest, { ...holder, key: '', declared: 'object' }) } : {}),
    }
    return { cluster, kind, namespace, name, source }
  },
}
