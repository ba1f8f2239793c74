const HIDDEN = '(not shown)'

/** Removes the values of Secrets from rendered objects (as `render --origins` prints them), because answers are sent to a model. */
export function withoutSecrets(objects: unknown): unknown {
  return Array.isArray(objects) ? objects.map(object => (isSecret(object) ? hidden(object) : object)) : objects
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSecret = (object: unknown): object is Readonly<Record<string, unknown>> =>
  isRecord(object) && object.kind === 'Secret'

/** A Secret reduced to its identity and origin. */
function hidden(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { apiVersion, kind, namespace, name, trail } = object
  return { apiVersion, kind, namespace, name, trail, values: HIDDEN }
}
