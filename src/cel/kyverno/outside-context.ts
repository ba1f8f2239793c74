import { CelUnknownError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { type CelValue, LibraryValue } from '../values.ts'

/** Answers a call; undefined: nothing answers it here. Throws CelError and CelUnknownError. */
type Answer = (method: string, args: readonly CelValue[]) => CelValue | undefined

/** A name whose methods ask a cluster, a registry or the network: `resource`, `image`, `globalContext`, `http`. */
export class OutsideContext extends LibraryValue {
  readonly typeName: string
  readonly name: string
  readonly #answer: Answer
  constructor(name: string, answer: Answer) {
    super()
    this.name = name
    this.typeName = `${name}.Context`
    this.#answer = answer
  }
  equals(other: LibraryValue): boolean {
    return this === other
  }
  call(method: string, args: readonly CelValue[]): CelValue {
    const answer = this.#answer(method, args)
    if (answer === undefined)
      throw new CelUnknownError(`${this.name}.${method} needs information from outside the fleet`)
    return answer
  }
}

/** Each has a spelling in lower camel case since Kyverno 1.18. */
const METHODS = ['Get', 'List', 'Post', 'Client', 'ToGVR', 'GetMetadata']

/** The methods of those names. */
export const OUTSIDE: FunctionTable = {
  methods: Object.fromEntries(
    METHODS.flatMap(written => {
      const lower = written === 'ToGVR' ? 'toGVR' : written[0]!.toLowerCase() + written.slice(1)
      return [written, lower].map(name => [
        name,
        ([self, ...args]: readonly CelValue[]) => (self instanceof OutsideContext ? self.call(name, args) : undefined),
      ])
    }),
  ),
}
