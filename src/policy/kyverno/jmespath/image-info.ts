import { type ContextValue, type Fields, isFields, isList, known, RuleError, textAt, valueAt } from './values.ts'

/** What Kyverno derives from an image reference (pkg/utils/image). */
interface ImageInfo {
  readonly registry: string
  readonly path: string
  readonly name: string
  readonly tag: string
  readonly digest: string
}

const DEFAULT_REGISTRY = 'docker.io'
/** No valid reference is longer. */
const MAX_REFERENCE = 1_000
const LONGEST_NAME = 255
const DOMAIN = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::\d+)?$/
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/

/** Parses an image reference (github.com/distribution/reference) and adds the default registry. */
export function imageInfo(image: string): ImageInfo {
  const bad = new RuleError(`bad image: ${image.slice(0, 200)}`)
  if (image.length > MAX_REFERENCE) throw bad
  const full = isWithoutRegistry(image) ? `${DEFAULT_REGISTRY}/${image}` : image
  const [, rest = '', digest = ''] = /^([^@]*)(?:@(.*))?$/s.exec(full) ?? []
  const [, named = '', tag = ''] = /^(.*?)(?::([^:/]*))?$/s.exec(rest) ?? []
  const slash = named.indexOf('/')
  const [registry, path] = [named.slice(0, slash), named.slice(slash + 1)]
  const isValid =
    slash > 0 &&
    named.length <= LONGEST_NAME &&
    DOMAIN.test(registry) &&
    path.split('/').every(part => COMPONENT.test(part)) &&
    (tag === '' ? !rest.endsWith(':') : TAG.test(tag)) &&
    (digest === '' ? !full.endsWith('@') : DIGEST.test(digest))
  if (!isValid) throw bad
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { registry, path, name, tag: tag === '' && digest === '' ? 'latest' : tag, digest }
}

export function imageText({ registry, path, tag, digest }: ImageInfo): string {
  return `${registry}/${path}${digest === '' ? `:${tag}` : `@${digest}`}`
}

function isWithoutRegistry(image: string): boolean {
  const slash = image.indexOf('/')
  const first = image.slice(0, slash)
  return slash < 0 || (!/[.:]/.test(first) && first !== 'localhost' && first.toLowerCase() === first)
}

const SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
  ...['DaemonSet', 'Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'Job'].map(
    (kind): [string, string[]] => [kind, ['spec', 'template', 'spec']],
  ),
])

/** `images`: the images of an object by container list and container name; undefined if it has no containers. */
export function imagesOf(object: ContextValue): Fields | undefined {
  const spec = SPECS.get(textAt(object, ['kind']))
  if (!spec) return undefined
  const found = new Map<string, ContextValue>()
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers']) {
    const list = known(valueAt(object, [...spec, kind]) ?? null)
    const images = new Map<string, ContextValue>()
    for (const [index, container] of (isList(list) ? list : []).entries()) {
      if (!isFields(known(container))) throw new RuleError('invalid image config')
      const image = textAt(container, ['image'])
      if (image.trim() === '') continue
      const pointer = `/${[...spec, kind, String(index)].join('/')}/image`
      images.set(textAt(container, ['name']), fieldsOf(imageInfo(image), pointer))
    }
    if (images.size > 0) found.set(kind, images)
  }
  return found.size > 0 ? found : undefined
}

function fieldsOf(info: ImageInfo, pointer: string): Fields {
  const { registry, path, name, tag, digest } = info
  const reference = imageText(info)
  const all = { registry, name, path, tag, digest, reference, referenceWithTag: `${registry}/${path}:${tag}` }
  const given = Object.entries(all).filter(([, text]) => text !== '')
  return new Map<string, ContextValue>([...given, ['jsonPointer', pointer]])
}
