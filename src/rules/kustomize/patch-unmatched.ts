import { quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { codeWord, message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'

/** A patch changes something. */
export const patchUnmatched: Rule = {
  id: 'patch-unmatched',
  severity: 'low',
  level: 'warning',
  title: 'Patch without a matching object',
  why: 'kustomize does not report a `target` that selects no object: after a rename or a typo the patch, which may harden or restrict the object, is not applied.',
  source: 'kustomize, api/internal/builtins/PatchTransformer.go',
  docs: 'Correct the `target` of the patch, or remove the patch. In a Component or in spec.patches of a Flux Kustomization, a target without a plain name may match no object.',
  *checkNode(node, context) {
    yield* unmatched(node, context)
  },
}

function* unmatched(node: FleetNode, { index }: RuleContext): Generator<Violation> {
  for (const object of index.objectsOf(node.key)) {
    for (const { origin, target } of object.unmatched ?? []) {
      yield {
        node,
        object,
        path: [],
        origin,
        value: `${origin.file} ${target}`,
        message: message`The target (${quoted('value', target)}) of a patch in ${quoted('path', origin.file)} matches no object, so the patch changes nothing. Allowed: a target that matches at least one object.`,
        fix: message`Correct ${codeWord('target')}, or remove the patch.`,
      }
    }
  }
}
