import { PolicyExpression } from '../../cel/kubernetes/policy-expression.ts'
import { kyvernoLibrary } from '../../cel/kyverno/kyverno-library.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { matchesWildcard } from '../kyverno/jmespath/wildcard.ts'
import { areMet } from '../native/evaluate-policy.ts'
import { type CelPolicy, compilePolicy } from '../native/native-policy.ts'
import { validatingActionOf, validatingScope } from '../validating/validating-engine.ts'
import { IMAGE_POLICY, NAMESPACED_IMAGE_POLICY } from './image-policies.ts'
import type { ImageRule, ImageVerdict } from './image-rule.ts'
import type { ImageUse } from './image-use.ts'

/** Kyverno's ImageValidatingPolicies and NamespacedImageValidatingPolicies that select a request (pkg/cel/policies/ivpol). */
export function validatingImageRules(world: AdmissionWorld, request: AdmissionRequest): ImageRule[] {
  const { namespace } = request.id
  const own = namespace ? world.policiesIn(NAMESPACED_IMAGE_POLICY, namespace) : []
  return [...world.policies(IMAGE_POLICY), ...own].flatMap(object => {
    if (stringAt(object.root, ['spec', 'evaluation', 'mode']) === 'JSON') return []
    const policy = compiled.get(object) ?? compilePolicy(object, { by: 'Kyverno', library: kyvernoLibrary })
    compiled.set(object, policy)
    const selected = selects(policy, world, request)
    if (selected === false) return []
    const { kind, namespace: place, name } = policy
    return [
      {
        policy: { kind, namespace: place, name },
        rule: '',
        origin: object.root.origin,
        enforces: validatingActionOf(object) === 'deny',
        ...(selected === true ? {} : { why: selected }),
        verdict: (use: ImageUse) => verdictOf(use, policy),
      },
    ]
  })
}

const compiled = new WeakMap<KubeObject, CelPolicy>()

/** A text: why that is not known. */
function selects(policy: CelPolicy, world: AdmissionWorld, request: AdmissionRequest): boolean | string {
  const scope = validatingScope(policy, world, request)
  if ('verdicts' in scope) {
    const unclear = scope.verdicts.find(one => 'unclear' in one)
    return unclear && 'unclear' in unclear ? unclear.unclear : false
  }
  if (scope.isExcepted) return false
  const isMet = areMet(policy, policy.conditions, world, request)
  if (typeof isMet === 'boolean') return isMet
  return 'unclear' in isMet ? isMet.unclear : isMet.refused
}

const VERIFIES = /\bverify(?:Image|Attestation)Signatures\b/

function verdictOf({ written, list }: ImageUse, policy: CelPolicy): ImageVerdict {
  const spec = at(policy.object.root, ['spec'])
  const texts = [...policy.validations, ...policy.variables].map(({ text }) => text)
  if (!texts.some(text => VERIFIES.test(text)))
    return { state: 'unmatched', why: 'its validations verify no signature' }
  if (written === undefined) return { state: 'unknown', why: 'only the cluster knows the image' }
  const matched = isMatched(itemsOf(at(spec, ['matchImageReferences'])), written)
  if (typeof matched === 'string') return { state: 'unknown', why: matched }
  if (!matched) return { state: 'unmatched', why: 'matchImageReferences does not match the image as it is written' }
  const isNamed = texts.some(text =>
    new RegExp(`\\bimages(?:\\.${list}\\b|\\s*(?:\\[|\\.(?!\\w*[cC]ontainers\\b)))`).test(text),
  )
  if (isNamed) return { state: 'verified' }
  const why = `its validations do not name images.${list}`
  const required = at(spec, ['validationConfigurations', 'required'])
  // later versions of Kyverno refuse matched images that no validation verified
  const isRequired = !(required?.type === 'scalar' && required.value === false)
  return { state: isRequired ? 'unknown' : 'unmatched', why }
}

/** Whether an image is selected, as it is written; no references select every image. */
function isMatched(references: readonly Node[], image: string): boolean | string {
  if (references.length === 0) return true
  const answers = references.map(one => {
    const glob = stringAt(one, ['glob']) ?? ''
    return glob === '' ? byExpression(stringAt(one, ['expression']) ?? '', image) : byGlob(glob, image)
  })
  if (answers.includes(true)) return true
  return answers.find(one => typeof one === 'string') ?? false
}

function byExpression(text: string, image: string): boolean | string {
  const expression = PolicyExpression.compile(text, kyvernoLibrary)
  if ('problem' in expression) return `matchImageReferences is not supported: ${expression.problem}`
  const outcome = expression.evaluate(new Map([['ref', image]]))
  if ('value' in outcome) return outcome.value === true
  return 'error' in outcome ? outcome.error : outcome.notEvaluated
}

const MAX_ALTERNATIVES = 100

/** Globs of github.com/gobwas/glob without separators: `*` is any text, `?` one character, `{a,b}` alternatives. */
function byGlob(glob: string, image: string): boolean | string {
  if (/[[\]\\!]/.test(glob)) return 'matchImageReferences uses a glob with brackets or escapes'
  const patterns = alternatives(glob)
  if (!patterns) return `matchImageReferences uses a glob with nested or more than ${MAX_ALTERNATIVES} alternatives`
  return patterns.some(pattern => matchesWildcard(pattern, image))
}

/** A glob for each alternative; undefined where braces are nested or not closed, or where there are too many. */
function alternatives(glob: string): string[] | undefined {
  let made = ['']
  for (const part of glob.split(/(\{[^{}]*\})/)) {
    const isChoice = part.startsWith('{') && part.endsWith('}')
    if (!isChoice && /[{}]/.test(part)) return undefined
    const options = isChoice ? part.slice(1, -1).split(',') : [part]
    if (made.length * options.length > MAX_ALTERNATIVES) return undefined
    made = made.flatMap(before => options.map(option => before + option))
  }
  return made
}
