import type { UndecidedReason } from '../../src/designation/designate.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Installation } from '../context/installation.ts'

/** No repository is named: whoever reads this may not know of them. */
const WHY: Readonly<Record<UndecidedReason, { readonly what: string; readonly fix: string }>> = {
  several: {
    what: 'several repositories had a clusters directory when the App was installed, and none is designated as the fleet',
    fix: 'Comment /bailiwick designate on the first report in the repository that is the fleet, as an owner of the organization.',
  },
  'unreadable-file': {
    what: 'bailiwick.yaml in the .github repository of this organization cannot be followed',
    fix: 'Correct the file: list repositories that the App can read under the key fleets.',
  },
  unreachable: {
    what: 'a designated fleet cannot be read by the App',
    fix: 'Install the App on the repository of the fleet. Or have the operator or an owner of the organization designate another one.',
  },
  conflict: {
    what: 'two records of the designated fleet contradict each other',
    fix: 'Comment /bailiwick designate in the repository that is the fleet, as an owner of the organization.',
  },
}

/** Throws `fleet-undesignated` while no repository is designated as the fleet: nothing may pass meanwhile. */
export async function assertDesignated(installation: Pick<Installation, 'designation'>): Promise<void> {
  const { designation } = await installation.designation()
  if (designation.state !== 'undecided') return
  const { what, fix } = WHY[designation.reason]
  throw new BailiwickError('fleet-undesignated', `No fleet evaluates this change: ${what}`, { fix })
}
