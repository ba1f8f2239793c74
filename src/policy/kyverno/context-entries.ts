import { search } from './jmespath/search.ts'
import { type ContextValue, isList, known, NotEvaluatedError, RuleError, textAt, valueAt } from './jmespath/values.ts'
import type { JsonContext } from './json-context.ts'
import { substitute } from './substitute.ts'

/** Objects that context entries can read. */
export interface ContextWorld {
  /** The namespace of the policy; '' for a ClusterPolicy. */
  readonly policyNamespace: string
  /** `data` and `metadata` of a ConfigMap in the fleet. */
  configMap(namespace: string, name: string): ContextValue | undefined
}

/** Context entries that query a cluster or a registry. */
const OF_THE_CLUSTER = ['apiCall', 'globalReference', 'imageRegistry'] as const

/** Adds the `context` of a rule or loop. A name is evaluated when an expression first uses it. */
export function addEntries(entries: ContextValue | undefined, context: JsonContext, world: ContextWorld): void {
  for (const entry of isList(entries) ? entries : []) {
    const name = textAt(entry, ['name'])
    context.defer(name, at => at.set(name, loaded(entry, name, at, world)))
  }
}

function loaded(entry: ContextValue, name: string, context: JsonContext, world: ContextWorld): ContextValue {
  const other = OF_THE_CLUSTER.find(kind => valueAt(entry, [kind]) !== undefined)
  if (other) throw new NotEvaluatedError(`context ${name} is of type ${other}`)
  const [configMap, variable] = [valueAt(entry, ['configMap']), valueAt(entry, ['variable'])]
  if (configMap !== undefined) return configMapOf(configMap, name, context, world)
  if (variable !== undefined) return variableOf(variable, name, context)
  throw new RuleError(`context ${name} is of no known type`)
}

function configMapOf(entry: ContextValue, entryName: string, context: JsonContext, world: ContextWorld): ContextValue {
  const [name, written] = ['name', 'namespace'].map(key => known(substitute(textAt(entry, [key]), context)))
  if (typeof name !== 'string' || typeof written !== 'string') {
    throw new RuleError(`context ${entryName}: the name of the ConfigMap is not a string`)
  }
  const namespace = written || world.policyNamespace || 'default'
  if (world.policyNamespace !== '' && namespace !== world.policyNamespace) {
    throw new RuleError(`context ${entryName}: the ConfigMap is in another namespace than the policy`)
  }
  const found = world.configMap(namespace, name)
  if (found === undefined) throw new NotEvaluatedError(`ConfigMap ${namespace}/${name} is not in the fleet`)
  return found
}

/** `variable`: the result of `jmesPath` on `value` or on the context, or else `default`. */
function variableOf(entry: ContextValue, name: string, context: JsonContext): ContextValue {
  const text = textAt(entry, ['jmesPath'])
  const path = text === '' ? '' : known(substitute(text, context))
  if (typeof path !== 'string') throw new RuleError(`context ${name}: jmesPath is not a string`)
  const fallback = substitute(valueAt(entry, ['default']) ?? null, context)
  const value = valueAt(entry, ['value'])
  const given = value === undefined ? undefined : substitute(value, context)
  let found = fallback
  if (path === '') found = given ?? fallback
  else {
    try {
      const made = given === undefined ? context.query(path) : search(path.trim(), given, context.steps)
      if (given !== undefined || made !== null) found = made
    } catch (error) {
      if (!(error instanceof RuleError) || fallback === null) throw error
    }
  }
  if (found === null) throw new RuleError(`context ${name}: the variable is null`)
  return found
}
