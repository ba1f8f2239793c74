import { hashOf } from '../../../facts/fingerprint.ts'

/** One binding is one cause, however many subjects it has, and whoever uses what it gives. `binding`: as displayRbac writes it. */
export const bindingCause = (binding: string): string => hashOf(['binding', binding])
