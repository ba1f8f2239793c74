import { CelError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { type CelValue, LibraryValue } from '../values.ts'

/** An image reference as go-containerregistry parses it. */
class Image extends LibraryValue {
  readonly typeName = 'kyverno.Image'
  readonly registry: string
  readonly repository: string
  readonly tag: string
  readonly digest: string
  constructor(registry: string, repository: string, tag: string, digest: string) {
    super()
    this.registry = registry
    this.repository = repository
    this.tag = tag
    this.digest = digest
  }
  equals(other: LibraryValue): boolean {
    return (
      other instanceof Image &&
      other.registry === this.registry &&
      other.repository === this.repository &&
      other.tag === this.tag &&
      other.digest === this.digest
    )
  }
}

/** Functions for image references (kyverno/sdk extensions/cel/libs/image). */
export const IMAGES: FunctionTable = {
  functions: {
    isImage: ([text]) => (typeof text === 'string' ? imageOf(text) !== undefined : undefined),
    image: parsedImage,
    parseImageReference: parsedImage,
  },
  methods: {
    containsDigest: ofImage(({ digest }) => digest !== ''),
    registry: ofImage(({ registry }) => registry),
    repository: ofImage(({ repository }) => repository),
    identifier: ofImage(({ tag, digest }) => digest || tag),
    identifierWithSeparator: ofImage(({ tag, digest }) => (digest === '' ? `:${tag}` : `@${digest}`)),
    tag: ofImage(({ tag }) => tag),
    digest: ofImage(({ digest }) => digest),
  },
}

function parsedImage([text]: readonly CelValue[]): CelValue | undefined {
  if (typeof text !== 'string') return undefined
  const made = imageOf(text)
  if (!made) throw new CelError('could not parse reference')
  return made
}

function ofImage(answer: (image: Image) => CelValue) {
  return ([one]: readonly CelValue[]) => (one instanceof Image ? answer(one) : undefined)
}

const DIGEST = /^sha256:[0-9a-f]{64}$/
const REPOSITORY = /^[a-z0-9_\-./]{2,255}$/
const REGISTRY = /^(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/
const TAG = /^[A-Za-z0-9_\-.]{1,128}$/
const DOCKER_HUB = 'index.docker.io'

/** `name.ParseReference` of go-containerregistry: a digest takes precedence over a tag; the defaults are `latest` and Docker Hub. */
function imageOf(text: string): Image | undefined {
  const [named, digest, ...others] = text.split('@')
  if (named === undefined || others.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined
  const colon = named.lastIndexOf(':')
  const hasTag = colon > named.lastIndexOf('/')
  const [base, tag] = hasTag ? [named.slice(0, colon), named.slice(colon + 1)] : [named, '']
  if (hasTag && !TAG.test(tag)) return undefined
  const slash = base.indexOf('/')
  const first = slash < 0 ? '' : base.slice(0, slash)
  const isHost = first !== '' && (/[.:]/.test(first) || first === 'localhost')
  const registry = isHost ? first : DOCKER_HUB
  const path = isHost ? base.slice(slash + 1) : base
  if (!REPOSITORY.test(path) || !REGISTRY.test(registry)) return undefined
  const isHub = registry === DOCKER_HUB || registry === 'docker.io'
  const repository = isHub && !path.includes('/') ? `library/${path}` : path
  const place = registry === 'docker.io' ? DOCKER_HUB : registry
  return new Image(place, repository, digest === undefined ? tag || 'latest' : '', digest ?? '')
}
