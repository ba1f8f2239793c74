import { BailiwickError } from '../../errors.ts'
import { type MapNode, stringAt } from '../../kube/node.ts'
import { readGeneratorObject } from '../fields/config-map-generator.ts'
import { invalid } from '../fields/read-fields.ts'
import { type GeneratorContext, generateObject } from '../generate/generate-object.ts'
import type { Resource } from '../resource/resource.ts'
import { shaped } from './config-shape.ts'

/**
 * What the builtin generates that an object of `generators` configures. Throws `kustomize-invalid` for a kind that there
 * is not, `kustomize-unsupported` for IAMPolicyGenerator, and what the generator throws.
 */
export function runGenerator(object: MapNode, context: GeneratorContext): Resource {
  const kind = stringAt(object, ['kind']) ?? ''
  const file = object.origin.file
  if (kind === 'ConfigMapGenerator' || kind === 'SecretGenerator') {
    const made = kind === 'SecretGenerator' ? 'Secret' : 'ConfigMap'
    return generateObject(readGeneratorObject(shaped(object, 'any') as MapNode, made), { ...context, file })
  }
  if (kind === 'IAMPolicyGenerator') {
    const fix = 'Write the ServiceAccount itself, with the annotation `iam.gke.io/gcp-service-account`.'
    throw new BailiwickError('kustomize-unsupported', `${kind}: not supported`, { origin: object.origin, fix })
  }
  return invalid(`${kind}: not a builtin generator of kustomize`, object.origin)
}
