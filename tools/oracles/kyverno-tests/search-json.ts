import { search } from '../../../src/admission/jmespath/search.ts'
import { fromJson, jsonOf, NotEvaluatedError, RuleError, RuleSteps } from '../../../src/admission/jmespath/values.ts'
import { BailiwickError } from '../../../src/base/errors.ts'
import type { Json } from '../../../src/kube/node.ts'

/** The result of a JMESPath expression that a test's own file contains. Throws `config` where it has none. */
export function searchJson(path: string, value: Json): Json {
  try {
    return jsonOf(search(path.trim(), fromJson(value), new RuleSteps()))
  } catch (error) {
    if (!(error instanceof RuleError || error instanceof NotEvaluatedError)) throw error
    throw new BailiwickError(
      'config',
      `the path ${JSON.stringify(path.slice(0, 200))} has no result: ${error.message}`,
      {
        fix: 'Correct fieldPath or projections of globalContextEntries.',
      },
    )
  }
}
