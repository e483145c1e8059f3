"""A small folder of collected model facts, as the tool that fills the embedded evidence takes them."""

import pytest

FACTS = {
    "models": """\
model_id,name,provider,release_date,release_via,reasoning,open_weights,model_line,provider_tier,predecessor_id,\
predecessor2_id,input_usd_per_m,output_usd_per_m,price_via,context_tokens,context_via,source
new,New,Acme,2026-01-01,lookup,yes,no,acme,0,old,,3,15,fetch,1000,lookup,release: page A; price: page B; context: page C
old,Old,Acme,2025-01-01,lookup,no,no,acme,0,,,1,2,lookup,500,guess,release: page D; price: page E; context: page F
rumour,Rumour,Acme,2027-01-01,guess,no,no,acme,0,,,1,2,lookup,500,lookup,release: hearsay
""",
    "benchmarks": """\
benchmark_id,name,dimension,kind,unit,in_composite,missing_value_rule,what_it_is
hle,HLE,scientific-reasoning,frontier,percent,yes,never imputed,hard questions
critpt,CritPt,scientific-reasoning,frontier,percent,yes,zero if missing,physics
own,Own,,tracked,index_-100_100,no,,ours (no ladder in the seed)
""",
    "scores": """\
model_id,benchmark_id,source_value,source_unit,primary,source_key,source_date,note,via
new,hle,41.5%,percent,yes,web,2026-02,,lookup
new,critpt,0.25,fraction,yes,web,2026-02,,seed
old,hle,12,percent,yes,web,2025-02,,fetch
old,own,-20,index_-100_100,yes,web,2025-02,,lookup
new,own,99,index_-100_100,yes,web,2025-02,,hearsay
""",
    "ladders": """\
benchmark_id,iq70,iq85,iq100,iq115,iq130,iq145,iq160
hle,0,2,5,10,20,45,100
""",
    "eq_ladders": "component,source_value,eq\nown,-10,100\n",
    "human_references": """\
benchmark_id,human_group,score,unit,range_or_remark,source
hle,"adults, low end",4,percent,low end of 4-6,a study of 12
hle,"adults, high end",6,percent,high end of 4-6,a study of 12
critpt,physicists,70,percent,,seed estimate
own,guessers,-50,index_-100_100,mean of 30 plays,by construction in the seed
""",
    "costs": """\
model_id,metric,value,unit,source_key,source_date,note,via
new,aa_index_run_cost,12.5,usd,web,2026-02,,lookup
old,aa_index_run_cost,2.5,usd,web,2026-02,,hearsay
""",
    "sources": "source_key,name,url,date,kind,licence_note\nweb,The web,,2026,user,facts\n",
}


@pytest.fixture
def facts(tmp_path):
    """The folder; a test may overwrite a file of it."""
    folder = tmp_path / "facts"
    folder.mkdir()
    for name, text in FACTS.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder
