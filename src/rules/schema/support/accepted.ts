import type { Problem } from '../../../schema/model/problem.ts'

/** The API server accepts an object with one of these problems. */
export const ACCEPTED: readonly Problem['kind'][] = ['dropped-field', 'dropped-labels', 'deprecated-version']
