import { firstNames } from '../message/and-more.ts'

const MAX_NAMED = 5

/** The first names, and how many more there are. The names are as they may stand in a message. */
export const fewNames = (names: readonly string[]): string => firstNames(names, MAX_NAMED)
