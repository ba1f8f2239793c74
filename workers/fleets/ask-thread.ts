import { BailiwickError, type ErrorCode } from '../../src/base/errors.ts'
import { fixOf, typedMessage } from '../../src/base/message.ts'
import type { EvaluationAnswer, EvaluationRequest } from '../threads/protocol.ts'
import type { Case } from './worker-context.ts'

/** The type of the answer to each request about a fleet's own repository. */
interface Answers {
  plan: 'planned'
  change: 'changed'
  offboard: 'offboard'
  credentials: 'credentials'
}

type Asked<T> = Omit<Extract<EvaluationRequest, { readonly type: T }>, 'tree' | 'url' | 'branch'>
type Answered<T extends keyof Answers> = Extract<EvaluationAnswer, { readonly type: Answers[T] }>

const ANSWERS: Answers = { plan: 'planned', change: 'changed', offboard: 'offboard', credentials: 'credentials' }

/**
 * Asks a rendering thread about a fleet's repository as its default branch is now. Throws what the thread refuses, and an
 * error with the code `empty` for an empty repository.
 */
export async function askThread<T extends keyof Answers>(
  { context, installation, repository }: Case,
  request: Asked<T> & { readonly type: T },
  empty: ErrorCode,
): Promise<Answered<T> & { readonly commit: string }> {
  const { url, defaultBranch: branch } = repository
  const commit = await installation.head(repository, { branch })
  if (!commit) throw new BailiwickError(empty, 'this repository is empty, so there is no fleet')
  const tree = await installation.content(repository, commit)
  const asked = { ...request, tree, url, branch } as unknown as EvaluationRequest
  const answer = await context.evaluator.evaluate(asked)
  if (answer.type === 'refused') throw new BailiwickError(answer.code, typedMessage(answer), { fix: fixOf(answer) })
  if (answer.type === ANSWERS[request.type]) return { ...(answer as Answered<T>), commit }
  throw new TypeError(`the rendering thread answered ${answer.type} to a question for ${request.type}`)
}
