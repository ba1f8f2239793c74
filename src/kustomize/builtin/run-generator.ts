import { BailiwickError } from '../../errors.ts'
import { mapNode, textNode } from '../../kube/edit-node.ts'
import { type MapNode, stringAt } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import { readGeneratorObject } from '../fields/config-map-generator.ts'
import { invalid, mapField, textField } from '../fields/read-fields.ts'
import { type GeneratorContext, generateObject } from '../generate/generate-object.ts'
import type { Entry } from '../model/entry.ts'
import { makeResource, type Resource } from '../resource/resource.ts'
import { type ConfigShape, shaped } from './config-shape.ts'

/**
 * What the builtin generates that an object of `generators` configures. Throws `kustomize-invalid` for a kind that there
 * is not, and what the generator throws.
 */
export function runGenerator(object: MapNode, context: GeneratorContext): Resource {
  const kind = stringAt(object, ['kind']) ?? ''
  const file = object.origin.file
  if (kind === 'ConfigMapGenerator' || kind === 'SecretGenerator') {
    const made = kind === 'SecretGenerator' ? 'Secret' : 'ConfigMap'
    return generateObject(readGeneratorObject(shaped(object, 'any') as MapNode, made), { ...context, file })
  }
  if (kind === 'IAMPolicyGenerator') return serviceAccount(object, file)
  return invalid(`${kind}: not a builtin generator of kustomize`, object.origin)
}

const IAM_SHAPE: ConfigShape = {
  fields: {
    cloud: 'loose',
    kubernetesService: { fields: { name: 'loose', namespace: 'loose' } },
    serviceAccount: { fields: { name: 'loose', projectId: 'loose' } },
  },
}

/** A ServiceAccount bound to one of Google Cloud (api/filters/iampolicygenerator, 5.8.1). */
function serviceAccount(object: MapNode, file: string): Resource {
  const config = shaped(object, IAM_SHAPE) as MapNode
  const { origin } = object
  const cloud = textField(config, 'cloud')?.text ?? ''
  if (cloud !== 'gke')
    invalid(`IAMPolicyGenerator: the cloud ${JSON.stringify(cloud)} is not supported. Supported: gke`, origin)
  const [account, project] = [plain(config, 'serviceAccount', 'name'), plain(config, 'serviceAccount', 'projectId')]
  const name = plain(config, 'kubernetesService', 'name')
  const service = mapField(config, 'kubernetesService')
  const hasNamespace = service && textField(service, 'namespace')?.text
  const namespace = hasNamespace
    ? [['namespace', entryNode(plain(config, 'kubernetesService', 'namespace'))] as const]
    : []
  const bound = textNode(`${account.text}@${project.text}.iam.gserviceaccount.com`, account.origin)
  const metadata = mapNode(
    [
      ['annotations', mapNode([['iam.gke.io/gcp-service-account', bound]], origin)],
      ['name', entryNode(name)],
      ...namespace,
    ],
    origin,
  )
  const root = mapNode(
    [
      ['apiVersion', textNode('v1', origin)],
      ['kind', textNode('ServiceAccount', origin)],
      ['metadata', metadata],
    ],
    origin,
  )
  return makeResource(root, [{ step: 'generator', file, line: origin.line }])
}

const entryNode = ({ text, origin }: Entry) => textNode(text, origin)

/** kustomize pastes the values into YAML, where only plain words stay what they are. */
function plain(config: MapNode, part: string, name: string): Entry {
  const struct = mapField(config, part)
  const entry = struct && textField(struct, name)
  if (entry && /^[a-z0-9][-a-z0-9.]*$/.test(entry.text) && resolvePlain(entry.text) === entry.text) return entry
  const message = `IAMPolicyGenerator: ${part}.${name} is not a plain name`
  throw new BailiwickError('kustomize-unsupported', message, { origin: (entry ?? config).origin })
}
